"""Looking ahead: what rules would earn in the market at hand, played in forks of its true state."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from daedalus.designers.base import Designer
from daedalus.designers.planner import PlannerSettings
from daedalus.designers.search import LEVELS
from daedalus.env import DesignEnv
from daedalus.market.mechanism import CHOICES, FIELDS, Mechanisms
from daedalus.market.outcome import Observation, Outcome
from daedalus.market.seeds import generator, market_seeds
from daedalus.rewards.terms import composite

_PATIENCE = 5.0  # seconds before a progress bar is shown
_CHUNK = 32_768  # futures played at once, about a quarter of a gigabyte


@dataclass(frozen=True)
class Successor:
    """Who sets the rules of a future once a mechanism has been kept for a while.

    Attributes:
        designer: Who.
        kept: Steps before that.
    """

    designer: Designer
    kept: int


def play_futures(
    states: DesignEnv,
    rows: NDArray[np.int64],
    mechanisms: Mechanisms,
    seeds: NDArray[np.uint64],
    horizon: int,
    successor: Successor | None = None,
) -> Outcome:
    """Play every mechanism in K futures of its state.

    Args:
        states: Paused episodes, left as they are.
        rows: The state of each mechanism, shape (B,).
        mechanisms: B mechanisms.
        seeds: Seeds of their futures, uint64, shape (B, K); what a successor draws follows them.
        horizon: Steps of each future.
        successor: Who follows; None keeps every mechanism for the whole horizon.

    Returns:
        The scored rounds, records of shape (B * K, horizon * scored rounds, fields).
    """
    copies = np.repeat(np.arange(len(rows)), seeds.shape[1])
    futures = states.fork(np.asarray(rows, np.int64)[copies], seeds.ravel())
    rng = np.random.default_rng(seeds.ravel()[:1])
    steps = _steps(futures, mechanisms.take(copies), horizon, successor, rng)
    return Outcome(np.concatenate([each.records for each in steps], axis=1))


def _steps(
    episodes: DesignEnv,
    rules: Mechanisms,
    count: int,
    successor: Successor | None,
    rng: np.random.Generator,
) -> Iterator[Outcome]:
    """Play on, and yield the scored rounds of each step."""
    for step in range(count):
        if successor and step >= successor.kept:
            rules = successor.designer.propose(episodes.observe(), rng)
        yield episodes.scored(episodes.advance(rules))


def expected_rewards(
    states: DesignEnv,
    rows: NDArray[np.int64],
    mechanisms: Mechanisms,
    seeds: NDArray[np.uint64],
    horizon: int,
) -> NDArray[np.float64]:
    """Return each mechanism's mean composite R over its futures, see ``play_futures``, (B,)."""

    def score(part: NDArray[np.intp]) -> NDArray[np.float64]:
        return composite(
            play_futures(states, rows[part], mechanisms.take(part), seeds[part], horizon)
        )

    return _means_over_futures(score, np.arange(len(rows)), seeds.shape[1])


def _means_over_futures(
    score: Callable[[NDArray[np.intp]], NDArray[np.float64]],
    order: NDArray[np.intp],
    futures: int,
) -> NDArray[np.float64]:
    """Return means of what ``score`` says of parts of ``order``, each with all its futures."""
    means = np.empty(len(order))
    size = max(1, _CHUNK // futures)
    starts = range(0, len(order), size)
    for start in tqdm(starts, "looking ahead", leave=False, delay=_PATIENCE, disable=None):
        part = order[start : start + size]
        means[part] = score(part).reshape(len(part), futures).mean(axis=1)
    return means


def compare_candidates(
    states: DesignEnv, candidates: Mechanisms, futures: int, horizon: int, seed: int, purpose: str
) -> NDArray[np.float64]:
    """Return what each of M candidates would earn in each of B states, shape (B, M).

    Args:
        states: Paused episodes, left as they are.
        candidates: M mechanisms, all played in the same futures of a state.
        futures: Number of futures.
        horizon: Steps of each, which every episode must have left.
        seed: What the futures depend on.
        purpose: What they are for; another purpose, other futures.
    """
    count, batch = len(candidates), len(states.steps)
    rows, choices = np.divmod(np.arange(batch * count), count)
    seeds = _future_seeds(batch, futures, seed, purpose)
    rewards = expected_rewards(states, rows, candidates.take(choices), seeds[rows], horizon)
    return rewards.reshape(batch, count)


def compare_continued(
    states: DesignEnv,
    candidates: Mechanisms,
    futures: int,
    successor: Successor,
    seed: int,
    purpose: str,
) -> NDArray[np.float64]:
    """Return what each of M candidates is worth in B states if a designer goes on, shape (B, M).

    A candidate is kept for a few steps, and from then to the end the successor sets the rules (the
    cost-to-go of AggreVaTe: Ross & Bagnell 2014). So it counts what a candidate does to the market
    for good, and also that it can be given up for another.

    Args:
        states: Paused episodes with at least a step to go, left as they are.
        candidates: M mechanisms, all played in the same futures of a state.
        futures: Number of futures.
        successor: Who goes on, and after how many steps, at least 1.
        seed: What the futures depend on.
        purpose: What they are for; another purpose, other futures.

    Returns:
        Sums of the rewards of all steps that are left, means over futures.
    """
    count, batch = len(candidates), len(states.steps)
    rows, choices = np.divmod(np.arange(batch * count), count)
    seeds = _future_seeds(batch, futures, seed, purpose)
    rng = generator(seed, f"{purpose}/designer")

    def score(part: NDArray[np.intp]) -> NDArray[np.float64]:
        going_on = states.fork(np.repeat(rows[part], futures), seeds[rows[part]].ravel())
        rules = candidates.take(np.repeat(choices[part], futures))
        left = states.settings.episode_length - int(going_on.steps.min())
        steps = _steps(going_on, rules, left, successor, rng)
        return np.asarray(np.sum([composite(each) for each in steps], axis=0))

    alike = np.argsort(states.steps[rows], kind="stable")  # what is played together ends together
    return _means_over_futures(score, alike, futures).reshape(batch, count)


def plan(
    states: DesignEnv, candidates: Mechanisms, settings: PlannerSettings, seed: int, purpose: str
) -> Mechanisms:
    """Return the best rules found for each state: of the candidates, then by local search.

    Args:
        states: B paused episodes with at least a step to go, left as they are.
        candidates: Rules known to be good somewhere.
        settings: How far and how broadly to look; the horizon is cut where an episode would end.
        seed: What futures and variations depend on.
        purpose: What they are for; another purpose, other futures.
    """
    left = states.settings.episode_length - int(states.steps.max())
    horizon = min(settings.horizon, left)
    rewards = compare_candidates(states, candidates, settings.futures, horizon, seed, purpose)
    best = candidates.take(rewards.argmax(axis=1))
    rng = generator(seed, f"{purpose}/variations")
    count = settings.variations + 1
    rows = np.repeat(np.arange(len(best)), count)
    for number in range(settings.rounds):
        tried = varied(best.take(rows), rng)
        tried = tried.replace(np.arange(0, len(rows), count), best)
        seeds = _future_seeds(len(best), settings.futures, seed, f"{purpose}/{number}")
        rewards = expected_rewards(states, rows, tried, seeds[rows], horizon)
        winners = rewards.reshape(-1, count).argmax(axis=1)
        best = tried.take(np.arange(len(best)) * count + winners)
    return best


def varied(mechanisms: Mechanisms, rng: np.random.Generator) -> Mechanisms:
    """Return the mechanisms with one random field of each set to one of its ``LEVELS``."""
    fields = rng.integers(len(FIELDS), size=len(mechanisms))
    for number, name in enumerate(FIELDS):
        rows = np.flatnonzero(fields == number)
        levels = np.arange(len(LEVELS[name])) if name in CHOICES else np.array(LEVELS[name])
        changed = mechanisms.take(rows)
        setattr(changed, name, rng.choice(levels, size=len(rows)))
        mechanisms = mechanisms.replace(rows, changed)
    return mechanisms


class Planner:
    """Looks ahead from the true state of the very episodes it plays: a high bar, and no bound.

    Args:
        env: The environment that is being played.
        candidates: Rules known to be good somewhere.
        settings: How far and how broadly to look.
        seed: What its futures depend on, which are not those of the episodes.
    """

    def __init__(
        self, env: DesignEnv, candidates: Mechanisms, settings: PlannerSettings, seed: int
    ) -> None:
        self._env = env
        self._candidates = candidates
        self._settings = settings
        self._seed = seed

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the best rules found for each market, whatever is observed of it."""
        purpose = f"planner/{self._env.steps.max()}"
        return plan(self._env, self._candidates, self._settings, self._seed, purpose)


def _future_seeds(batch: int, futures: int, seed: int, purpose: str) -> NDArray[np.uint64]:
    return market_seeds(seed, f"{purpose}/futures", batch * futures).reshape(batch, futures)
