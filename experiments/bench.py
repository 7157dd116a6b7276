"""Measure the speed of both markets, of rounds and of steps, their memory, and commands."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numba
import numpy as np
import pandas as pd

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.search.space import random_mechanisms
from daedalus.evaluation.episodes import play_episodes
from daedalus.launch.command_cost import command_costs
from daedalus.launch.config.tasks import Bench
from daedalus.launch.tracked import tracked
from daedalus.market.interface import MARKETS
from daedalus.market.literals import MarketName
from daedalus.market.mechanism import Mechanism
from daedalus.market.observation import Observation
from daedalus.market.population import MAX_UNITS, Population
from daedalus.market.ranges import Ranges
from daedalus.market.seeds import generator, market_seeds

REPEATS, COMMAND_REPEATS = 11, 3
MANY = 1_000_000
"""Episodes of the evaluation whose memory is measured."""


_SIZES = Ranges(bidders=[4, 16], units=[1, MAX_UNITS])


@dataclass(frozen=True)
class Case:
    """What is timed.

    Attributes:
        market: One of ``MARKETS``.
        part: ``rounds`` plays rounds alone. ``step`` also observes and computes the reward.
            ``observation`` does nothing else. ``recent rounds`` then copies the last 20 rounds,
            which an observation does when a designer first looks at them. ``gymnasium`` plays
            whole episodes in ``daedalus.doors.gym``: of one market, or of several side by side.
        bidders: Bidders of an episode.
        units: Units sold in a round.
        episodes: Episodes side by side.
        rounds: Rounds that are played in each episode. Parts of a step have those of one step.
        threads: Threads that play.
        drawn: Whether each episode draws 4 to 16 bidders and 1 to 5 units, instead.
    """

    market: MarketName
    part: str = "rounds"
    bidders: int = 8
    units: int = 1
    episodes: int = 8_000
    rounds: int = 50
    threads: int = 1
    drawn: bool = False


def cases(config: Bench) -> list[Case]:
    """Return the cases that this machine has enough cores for."""
    found: list[Case] = []
    for market in MARKETS:
        base = _standard(config, market)
        steps = replace(base, episodes=4_000, rounds=config.market.rounds_per_step)
        found += [replace(base, episodes=count) for count in (2_000, 4_000)]
        found += [base, replace(base, rounds=25), replace(base, threads=2)]
        found += [replace(steps, part=part) for part in ("step", "observation", "recent rounds")]
    few = replace(_standard(config, "strategic"), episodes=2_000)
    found += [replace(few, bidders=count) for count in (16, 32, 64)]
    found += [replace(few, bidders=16, units=MAX_UNITS), replace(few, drawn=True)]
    if find_spec("gymnasium"):  # of the extra [rl]
        rounds = config.market.episode_length * config.market.rounds_per_step
        played = replace(few, part="gymnasium", rounds=rounds)
        found += [replace(played, episodes=count) for count in (1, 1024)]
    return [case for case in found if case.threads <= numba.get_num_threads()]


def _standard(config: Bench, market: MarketName) -> Case:
    """Return the case with which the others of its market are compared."""
    population = config.population.in_market(market)
    return Case(market, units=population.units if isinstance(population, Population) else 1)


def main(config: Bench, out: Path) -> None:
    """Time all cases in turn, print medians and write them to summary.csv."""
    chosen = cases(config)
    plays = [_timed(config, case) for case in chosen]
    began = time.perf_counter()
    for play in plays:
        play()
    first = time.perf_counter() - began
    seconds = np.array([[play() for play in plays] for _ in range(REPEATS)])
    table = pd.DataFrame([asdict(case) for case in chosen])
    table["median_ms"] = 1000 * np.median(seconds, axis=0)
    plays_rounds = table["part"].isin(["rounds", "step", "gymnasium"])
    table.loc[plays_rounds, "million_rounds_per_second"] = table.eval(
        "episodes * rounds / median_ms / 1000"
    )
    plays_steps = table["part"].isin(["step", "gymnasium"])
    table.loc[plays_steps, "steps_per_second"] = (
        1e6 * table["million_rounds_per_second"] / config.market.rounds_per_step
    )
    standard = table[[case == _standard(config, case.market) for case in chosen]]
    base = standard.set_index("market")["million_rounds_per_second"]
    table["relative"] = table["million_rounds_per_second"] / table["market"].map(base)
    with tracked(config, out) as (_, report):
        report.say(
            f"first calls: {first:.1f} s, to compile the market or to load it from the cache"
        )
        title = f"population {config.population.name}, medians of {REPEATS} repeats"
        report.table(table, "summary", title)
        numba.set_num_threads(max(case.threads for case in chosen))
        report.say(_memory(config))
        commands = pd.DataFrame(command_costs(COMMAND_REPEATS)).round(2)
        title = f"seconds of commands, medians of {COMMAND_REPEATS} repeats"
        report.table(commands, "commands", title)


def _env(config: Bench, case: Case) -> DesignEnv:
    settings = replace(config.market, name=case.market)
    population = config.population.in_market(case.market).of_size(case.bidders)
    if isinstance(population, Population):
        ranges = replace(population.ranges, units=None)
        population = replace(population, units=case.units, ranges=_SIZES if case.drawn else ranges)
    return DesignEnv.of(settings, population)


def _timed(config: Bench, case: Case) -> Callable[[], float]:
    """Return a function that does the work of the case and returns the seconds that this took."""
    work = _in_gymnasium(config, case) if case.part == "gymnasium" else _in_numpy(config, case)

    def timed() -> float:
        numba.set_num_threads(case.threads)
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return timed


def _in_gymnasium(config: Bench, case: Case) -> Callable[[], None]:
    """Return the playing of whole episodes through Gymnasium, their beginnings included."""
    from daedalus.doors.gym import MarketEnv, MarketVectorEnv  # of the extra [rl]

    env = _env(config, case)
    markets = MarketEnv(env) if case.episodes == 1 else MarketVectorEnv(env, case.episodes)
    markets.action_space.seed(config.seed)
    actions = markets.action_space.sample()

    def play() -> None:
        markets.reset(seed=config.seed)
        for _ in range(env.settings.episode_length):
            markets.step(actions)

    return play


def _in_numpy(config: Bench, case: Case) -> Callable[[], object]:
    """Return the work of a case on the arrays of its episodes."""
    episodes = _env(config, case).reset(market_seeds(config.seed, "bench", case.episodes))
    market, state = episodes.env.market, episodes.state
    mechanisms = random_mechanisms(case.episodes, generator(config.seed, "bench"))

    def step() -> Observation:
        episodes.steps[:] = 0  # so that the episodes never end
        assert len(episodes.step(mechanisms).reward) == case.episodes
        return episodes.observe()

    work: dict[str, Callable[[], object]] = {
        "rounds": lambda: market.play(state, mechanisms, case.rounds),
        "step": step,
        "observation": episodes.observe,
        "recent rounds": lambda: episodes.observe().recent,
    }
    return work[case.part]


def _memory(config: Bench) -> str:
    """Return the bytes of an episode, and the peak memory of an evaluation of very many."""
    env = _env(config, _standard(config, "strategic"))
    state = env.reset(market_seeds(config.seed, "bench", 1)).state
    size_of = f"the state of an episode takes {state.nbytes:,} bytes"
    seeds, rng = market_seeds(config.seed, "bench", MANY), generator(config.seed, "bench")
    play_episodes(env, FixedDesigner(Mechanism()), seeds, rng)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return f"{size_of}; {MANY:,} episodes in an evaluation take {peak:.2f} GiB, with libraries"
