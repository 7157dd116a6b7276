"""Mechanism design as an environment, which never changes, and its episodes, which do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from daedalus.checks import CannotRunError
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.rewards.terms import mean_over_rounds
from daedalus.market.allowed import Allowed, read_allowed
from daedalus.market.factory import make_market
from daedalus.market.goal import ANYTHING, Goal, refuse_others
from daedalus.market.interface import Market, MarketSettings, draw_incumbents
from daedalus.market.mechanism import Mechanisms
from daedalus.market.observation import Observation
from daedalus.market.outcome import ROUND_FIELDS, Outcome
from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan
from daedalus.market.state import MarketState
from daedalus.market.views import Player


class Designer(Protocol):
    """Proposes mechanisms for a batch of markets."""

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return one mechanism for each of the B observed markets."""
        ...


@runtime_checkable
class Watcher(Protocol):
    """A designer that sees the true state of the episodes that it plays, such as the planner."""

    def watch(self, episodes: Episodes) -> None:
        """Take the episodes that it plays from now on."""
        ...


@dataclass(frozen=True)
class DesignEnv:
    """A market, the shape of its episodes, and the reward of a designer. It never changes.

    Attributes:
        market: The market, with its bidders.
        settings: Shape of an episode.
        reward: What a designer is to maximise. By default this is R alone.
        allowed: What a designer may set, see ``Goal``. By default all fields are free.
        brief: What is asked for in words, see ``Goal``.

    Raises:
        ValueError: A restriction is none, see ``Goal``.
    """

    market: Market
    settings: MarketSettings
    reward: RewardStack = field(default_factory=RewardStack)
    allowed: Mapping[str, Allowed] = field(default_factory=dict, repr=False)
    brief: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "allowed", read_allowed(self.allowed))

    @classmethod
    def of(
        cls,
        settings: MarketSettings,
        population: Population | SeatPlan,
        reward: RewardStack | None = None,
        players: Mapping[str, Player] | None = None,
        allowed: Mapping[str, Allowed] | None = None,
        brief: str = "",
    ) -> Self:
        """Return the environment of a population in the market that the settings describe.

        Some of its types may have players, see ``PlayedMarket``.

        Raises:
            ValueError: The market cannot play the population or the players, or a player has no
                seat.
        """
        market = make_market(settings, population, players)
        if players and isinstance(population, Population):
            population.check_players(players)
        return cls(market, settings, reward or RewardStack(), allowed or {}, brief)

    def with_population(self, population: Population | SeatPlan) -> Self:
        """Return the environment of another population; everything else stays, players too."""
        return replace(self, market=make_market(self.settings, population, self.market.players))

    @cached_property
    def goal(self) -> Goal:
        """Return what a designer is asked for: weights, what it may set, and words."""
        return Goal(self.reward.active, self.allowed, self.brief)

    @cached_property
    def _incumbents(self) -> Mechanisms:
        return Mechanisms.stack(list(self.settings.incumbents.values()))

    def reset(self, seeds: NDArray[np.uint64]) -> Episodes:
        """Begin one episode for each seed and play its warm-up under its incumbent."""
        state = self.market.reset(seeds)
        incumbents = draw_incumbents(self._incumbents, seeds)
        self.market.play(state, incumbents, self.settings.warmup_rounds)
        return Episodes(self, state, incumbents, np.zeros(len(seeds), np.int64))


@dataclass(frozen=True)
class StepResult:
    """The rounds of one step of B episodes, and what they earn.

    Attributes:
        outcome: The step's rounds. They are NaN where no round was played: the proposal was
            malformed, or the episode had ended.
        scored: The last of these rounds, which count.
        running: Whether each episode had not ended before the step, shape (B,).
        stack: The environment's reward.
    """

    outcome: Outcome
    scored: Outcome
    running: NDArray[np.bool_]
    stack: RewardStack

    def __repr__(self) -> str:
        """Return the number of episodes and what their rounds were like, in one line."""
        running = int(self.running.sum())
        return f"StepResult(running={running} of {len(self.running)}, scored={self.scored!r})"

    @property
    def reward(self) -> NDArray[np.float64]:
        """Return the environment's reward, shape (B,); 0 where no round was played."""
        if self.stack.is_composite:
            return self.composite.copy()
        return self.stack.of_mechanisms(self.scored)

    @cached_property
    def composite(self) -> NDArray[np.float64]:
        """Return mean R, whatever the environment's reward is, shape (B,), in [0, 1]."""
        return mean_over_rounds("composite", self.scored)


@dataclass
class Episodes:
    """B episodes of one environment, side by side. Each stands at a step of its own.

    Attributes:
        env: The environment.
        state: The B markets.
        mechanisms: The mechanisms in force.
        steps: Number of steps taken, int64, shape (B,).
        goals: The ``Goal`` of each episode, shape (B,); None if all have that of the environment.
    """

    env: DesignEnv
    state: MarketState
    mechanisms: Mechanisms
    steps: NDArray[np.int64]
    goals: NDArray[np.object_] | None = None

    def __repr__(self) -> str:
        """Return the number of episodes, and how many have ended, in one line."""
        length, ended = self.env.settings.episode_length, int(self.done.sum())
        return f"Episodes({len(self)} of {length} steps, {ended} ended)"

    def __len__(self) -> int:
        """Return B."""
        return len(self.steps)

    def observe(self) -> Observation:
        """Return what the designer sees now."""
        observed = self.env.market.observe(self.state)
        return Observation(
            mechanisms=self.mechanisms,
            history=observed.history,
            proxies=observed.proxies,
            round_number=self.steps.copy(),
            episode_length=self.env.settings.episode_length,
            stage=self.env.market.population.stage,
            goals=self.goal_of_each,
        )

    @property
    def done(self) -> NDArray[np.bool_]:
        """Return whether each episode has ended: after its last step, or with its market."""
        return (self.steps >= self.env.settings.episode_length) | self.state.over

    def step(self, mechanisms: Mechanisms) -> StepResult:
        """Play one step under the proposed mechanisms, one for each episode.

        A malformed proposal uses up the step and scores 0, and no round is played. An episode that
        has ended does not change.

        Raises:
            CannotRunError: They are no ``Mechanisms``.
            ValueError: There is not one mechanism for each episode; nothing has been played.
            MechanismError: The goal of a running episode does not allow its mechanism; nothing has
                been played.
        """
        if not isinstance(mechanisms, Mechanisms):
            kind = type(mechanisms).__name__
            raise CannotRunError(
                f"propose returned {kind}; return Mechanisms, one for each episode, as "
                "Mechanisms.stack makes them of single ones"
            )
        if len(mechanisms) != len(self):
            raise ValueError(f"{len(mechanisms)} mechanisms for {len(self)} episodes")
        running = ~self.done
        if self.goals is not None or self.env.allowed:
            goals = self.goal_of_each.copy()
            goals[~running] = ANYTHING
            refuse_others(mechanisms, goals)
        outcome = self._play(mechanisms, (running & ~mechanisms.malformed).nonzero()[0])
        self.steps += running
        scored = outcome.last(self.env.settings.scored_rounds)
        return StepResult(outcome, scored, running, self.env.reward)

    @property
    def goal_of_each(self) -> NDArray[np.object_]:
        """Return the goal of each episode, shape (B,)."""
        return np.full(len(self), self.env.goal) if self.goals is None else self.goals

    def _play(self, mechanisms: Mechanisms, rows: NDArray[np.int64]) -> Outcome:
        market, rounds = self.env.market, self.env.settings.rounds_per_step
        if len(rows) == len(self):
            self.mechanisms = mechanisms
            return market.play(self.state, mechanisms, rounds)
        moving = self.state.fork(rows)
        records = np.full((len(self), rounds, len(ROUND_FIELDS)), np.nan)
        records[rows] = market.play(moving, mechanisms.take(rows), rounds).records
        self.state.put(rows, moving)
        self.mechanisms = self.mechanisms.replace(rows, mechanisms.take(rows))
        return Outcome(records, self.state.units)

    def play(
        self, designer: Designer, rng: np.random.Generator
    ) -> Iterator[tuple[Observation, Mechanisms, StepResult]]:
        """Let a designer play the episodes to their end.

        Each step yields what the designer saw, what it proposed, and what came of it.
        """
        if isinstance(designer, Watcher):
            designer.watch(self)
        while not self.done.all():
            observation = self.observe()
            mechanisms = designer.propose(observation, rng)
            yield observation, mechanisms, self.step(mechanisms)

    def mean_rewards(self, mechanisms: Mechanisms) -> NDArray[np.float64]:
        """Play the episodes to their end, each under its mechanism; return its mean reward.

        Args:
            mechanisms: One mechanism for each of the B episodes.

        Returns:
            The reward of each episode, averaged over its steps so far, shape (B,).
        """
        total = np.zeros(len(self))
        while not self.done.all():
            total += self.step(mechanisms).reward
        mean: NDArray[np.float64] = total / np.maximum(self.steps, 1)
        return mean

    def fork(self, rows: NDArray[np.integer[Any]], seeds: NDArray[np.uint64] | None = None) -> Self:
        """Return independent copies of some episodes.

        Args:
            rows: Episodes to copy, in order; an episode may be copied more than once.
            seeds: Futures of the copies. Copies with the same seed have the same draws. By default
                each copy keeps the future of its original.
        """
        state, mechanisms = self.state.fork(rows, seeds), self.mechanisms.take(rows)
        goals = None if self.goals is None else self.goals[rows]
        return type(self)(self.env, state, mechanisms, self.steps[rows], goals)

    def put(self, rows: NDArray[np.integer[Any]], other: Self) -> None:
        """Replace episodes in place by those of ``other``, in order."""
        self.state.put(rows, other.state)
        self.mechanisms = self.mechanisms.replace(rows, other.mechanisms)
        self.steps[rows] = other.steps
