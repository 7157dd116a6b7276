"""The public Python surface: one market, played one step at a time."""

from __future__ import annotations

import secrets
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from daedalus.design.briefs.clauses import Understanding
from daedalus.design.env import DesignEnv, Episodes
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.lookahead import fork_rewards
from daedalus.launch.config.changes import all_changes
from daedalus.launch.config.compose import compose_config, quoted
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.config.tasks import Compare
from daedalus.market.allowed import read_allowed
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observation import Observation
from daedalus.market.outcome import Outcome
from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan
from daedalus.market.seeds import EPISODE_SEEDS, episode_seed, episode_seeds

__all__ = ["Market", "Mechanism", "Step", "make"]

_READ = ("population", "market", "reward", "allowed")


class Step(NamedTuple):
    """What came of one step."""

    observation: Observation
    """What a designer sees now, a batch of one market."""
    reward: float
    """The reward of the step; R alone lies in 0 to 1."""
    done: bool
    """Whether the episode has ended."""
    outcome: Outcome
    """The scored rounds. Records may depend on values, which a designer must not see."""

    def __repr__(self) -> str:
        """Return the reward first, and then what was seen and played, in a few lines."""
        return (
            f"Step(reward={self.reward:.6g}, done={self.done},\n"
            f"     observation={self.observation!r},\n"
            f"     outcome={self.outcome!r})"
        )


class Market:
    """A market with one episode at a time; what needs one raises RuntimeError before a reset.

    Attributes:
        env: The market, the shape of its episodes, and the reward.
        understood: What was understood of the brief that the market was opened with; None without
            a brief. Its floors restrict nothing in play.
        seed: Seed of the episode; None before the first reset.
    """

    def __init__(self, env: DesignEnv, understood: Understanding | None = None) -> None:
        self.env = env
        self.understood = understood
        self.seed: int | None = None
        self._episode: Episodes | None = None

    def __repr__(self) -> str:
        """Return the seed and the step of the episode."""
        if self._episode is None:
            return "Market(call reset to begin an episode)"
        length = self.env.settings.episode_length
        return f"Market(seed={self.seed}, step {self._episode.steps[0]} of {length})"

    def reset(self, seed: int | None = None) -> Observation:
        """Begin an episode and return the first observation, a batch of one market.

        Args:
            seed: 0 to 2**53 - 1. The same seed gives the same episode, also in the service and in
                Gymnasium. None draws one; ``seed`` tells which.

        Raises:
            ValueError: The seed is no such integer.
        """
        chosen = secrets.randbelow(EPISODE_SEEDS) if seed is None else episode_seed(seed)
        self._episode = self.env.reset(episode_seeds([chosen]))
        self.seed = chosen
        return self._episode.observe()

    def step(self, mechanism: Mechanism) -> Step:
        """Play one step under a mechanism. An episode that has ended earns 0 and does not change.

        Raises:
            MechanismError: It is not allowed.
        """
        result = self.episode.step(Mechanisms.stack([mechanism]))
        return Step(self.episode.observe(), float(result.reward[0]), self.done, result.scored)

    def fork(
        self, mechanisms: Sequence[Mechanism], futures: int = 8, horizon: int = 1, seed: int = 0
    ) -> NDArray[np.float64]:
        """Return what each of K mechanisms would earn from here, shape (K,); nothing moves.

        Args:
            mechanisms: The mechanisms to compare. They share all draws.
            futures: Number of futures, whose mean is returned. 0 is the episode's own future:
                with a horizon of 1 exactly what ``step`` would return.
            horizon: Steps of each future, in which the mechanism stays in force.
            seed: Seed of the futures.

        Raises:
            ValueError: A number is out of range; the message says what to give.
        """
        stacked = Mechanisms.stack(list(mechanisms))
        return fork_rewards(self.episode, stacked, futures, horizon, seed)

    @property
    def observation(self) -> Observation:
        """Return what a designer sees now."""
        return self.episode.observe()

    @property
    def done(self) -> bool:
        """Return whether the episode has ended."""
        return bool(self.episode.done[0])

    @property
    def episode(self) -> Episodes:
        """Return the episode itself, with its state."""
        if self._episode is None:
            raise RuntimeError("there is no episode yet; call reset first")
        return self._episode


def make(
    population: str | Population | SeatPlan = "stage3",
    *overrides: str,
    market: str | MarketSettings = "strategic",
    reward: str | RewardStack = "composite",
    allowed: Mapping[str, object] | None = None,
    brief: str = "",
) -> Market:
    """Return a market to play, such as ``daedalus.make("stage4", "market.episode_length=20")``.

    Args:
        population: The bidders: their name, as in ``population=NAME``, or their settings.
        *overrides: Changes as on the command line, such as ``market.episode_length=20``.
        market: The name of a file in ``conf/market/``, or settings.
        reward: The name of a file in ``conf/reward/``, or a stack.
        allowed: What may be set of a mechanism, such as ``{"auction_type": ["first_price"]}``, see
            ``read_allowed``; a step under another mechanism is refused. By default all may.
        brief: What the seller asks for in sentences. What a reader understands of them sets
            ``reward``, ``allowed`` and, if it tells of the bidders, who they are. Check the
            market's ``understood``; a warning names the sentences that were not used, and floors,
            which restrict nothing in play.

    Raises:
        ConfigError: A name or a change is wrong, or nothing would read a change. The message says
            what to write instead.
        ValueError: The market cannot play the bidders, or ``allowed`` is wrong, or a brief comes
            with a reward or restrictions of its own.
    """
    chosen = {"population": population, "reward": reward}
    chosen["market"] = market if isinstance(market, str) else market.name
    named = [f"{key}={quoted(each)}" for key, each in chosen.items() if isinstance(each, str)]
    config: Compare = compose_config("task=compare", *named, *overrides)
    given = {"population": population, "market": market, "reward": reward}
    settled = {key for key, each in given.items() if not isinstance(each, str)}
    changed = _changed(overrides, settled | ({"allowed"} if allowed is not None else set()))
    if brief and (allowed or reward != "composite" or changed & {"reward", "allowed"}):
        raise ValueError("brief: it says reward and allowed itself; leave these two out")
    settings = config.market if isinstance(market, str) else market
    bidders = (
        config.population.in_market(settings.name) if isinstance(population, str) else population
    )
    stack = config.reward if isinstance(reward, str) else reward
    restrictions = read_allowed(config.allowed if allowed is None else allowed)
    env = DesignEnv.of(settings, bidders, stack, allowed=restrictions)
    return _briefed(env, brief) if brief else Market(env)


def _changed(overrides: Sequence[str], settled: Collection[str]) -> set[str]:
    """Return which of ``_READ`` some overrides change; ``settled`` ones come as objects."""
    found = all_changes(overrides)
    for each in found:
        if each.first not in _READ:
            raise ConfigError(f"{each.text}: a market reads {', '.join(_READ)} alone; leave it out")
        if each.first in settled:
            raise ConfigError(f"{each.text}: {each.first} is given as an object; change it there")
    return {each.first for each in found}


def _briefed(env: DesignEnv, brief: str) -> Market:
    """Return the market of what a brief asks for."""
    from daedalus.launch.brief_answer import make_solver  # readers are slow to import
    from daedalus.launch.from_config import make_context

    solver = make_solver(make_context(Compare(), env))
    understood = solver.understand(brief)
    for sentence in understood.warnings_in_play:
        warnings.warn(sentence, stacklevel=3)
    env = replace(
        solver.market(understood.population),
        reward=RewardStack(dict(understood.reward)),
        allowed=understood.allowed,
        brief=brief,
    )
    return Market(env, understood)
