"""Episodes: at each step a designer proposes a mechanism and the market plays some rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from daedalus.market.incumbents import draw_incumbents
from daedalus.market.interface import Market, MarketSettings
from daedalus.market.making import make_market
from daedalus.market.mechanism import Mechanisms
from daedalus.market.observation import Observation
from daedalus.market.outcome import ROUND_FIELDS, Outcome
from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan
from daedalus.market.state import MarketState
from daedalus.rewards.terms import mean_over_rounds


class Designer(Protocol):
    """Proposes mechanisms for a batch of markets."""

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return one mechanism for each of the B observed markets."""
        ...


@dataclass(frozen=True)
class StepResult:
    """Results of one step of B episodes.

    Attributes:
        observation: What the designer sees next.
        reward: Mean composite R of the step's scored rounds, shape (B,), in [0, 1]; 0 where the
            proposal was malformed or the episode had ended.
        done: Whether the episode has ended, shape (B,).
        outcome: The step's rounds; NaN where no round was played.
        played: Whether rounds were played, shape (B,).
    """

    observation: Observation
    reward: NDArray[np.float64]
    done: NDArray[np.bool_]
    outcome: Outcome
    played: NDArray[np.bool_]


class DesignEnv:
    """B episodes of mechanism design, side by side.

    Args:
        market: The market, with its bidders.
        settings: Shape of an episode.
    """

    def __init__(self, market: Market, settings: MarketSettings) -> None:
        self.market = market
        self.settings = settings

    @classmethod
    def of(cls, settings: MarketSettings, population: Population | SeatPlan) -> Self:
        """Return episodes of a population in the market that the settings describe."""
        return cls(make_market(settings, population), settings)

    state: MarketState
    mechanisms: Mechanisms
    steps: NDArray[np.int64]

    def reset(self, seeds: NDArray[np.uint64]) -> Observation:
        """Begin one episode for each seed and play its warm-up under its incumbent."""
        self.state = self.market.reset(seeds)
        self.mechanisms = draw_incumbents(list(self.settings.incumbents.values()), seeds)
        self.steps = np.zeros(len(seeds), np.int64)
        self.market.play(self.state, self.mechanisms, self.settings.warmup_rounds)
        return self.observe()

    def observe(self) -> Observation:
        """Return what the designer sees now."""
        observed = self.market.observe(self.state)
        return Observation(
            mechanisms=self.mechanisms,
            history=observed.history,
            proxies=observed.proxies,
            round_number=self.steps.copy(),
            episode_length=self.settings.episode_length,
            stage=self.market.population.stage,
        )

    @property
    def done(self) -> NDArray[np.bool_]:
        """Return whether each episode has ended: after its last step, or with its market."""
        return (self.steps >= self.settings.episode_length) | self.state.over

    def step(self, mechanisms: Mechanisms) -> StepResult:
        """Play one step under the proposed mechanisms, one for each episode.

        A malformed proposal uses up the step and scores 0, and no round is played. An episode that
        has ended does not change.

        Raises:
            ValueError: There is not one mechanism for each episode, or a mechanism was changed to
                a value out of range; nothing has been played.
        """
        running = ~self.done
        outcome = self.advance(mechanisms)
        played = running & ~mechanisms.malformed
        reward = mean_over_rounds("composite", self.scored(outcome))
        return StepResult(self.observe(), reward, self.done, outcome, played)

    def advance(self, mechanisms: Mechanisms) -> Outcome:
        """Play one step as ``step`` does, without the observation.

        Returns:
            The step's rounds; NaN where no round was played.

        Raises:
            ValueError: There is not one mechanism for each episode, or a mechanism was changed to
                a value out of range; nothing has been played.
        """
        if len(mechanisms) != len(self.steps):
            raise ValueError(f"{len(mechanisms)} mechanisms for {len(self.steps)} episodes")
        mechanisms = mechanisms.checked()  # a copy that the caller cannot change
        running = ~self.done
        outcome = self._play(mechanisms, np.flatnonzero(running & ~mechanisms.malformed))
        self.steps += running
        return outcome

    def _play(self, mechanisms: Mechanisms, rows: NDArray[np.int64]) -> Outcome:
        rounds = self.settings.rounds_per_step
        if len(rows) == len(self.steps):
            self.mechanisms = mechanisms
            return self.market.play(self.state, mechanisms, rounds)
        moving = self.state.fork(rows)
        records = np.full((len(self.steps), rounds, len(ROUND_FIELDS)), np.nan)
        records[rows] = self.market.play(moving, mechanisms.take(rows), rounds).records
        self.state.put(rows, moving)
        self.mechanisms = self.mechanisms.replace(rows, mechanisms.take(rows))
        return Outcome(records)

    def scored(self, outcome: Outcome) -> Outcome:
        """Return the last rounds of a step, whose mean R is its reward."""
        return Outcome(outcome.records[:, -self.settings.scored_rounds :])

    def fork(self, rows: NDArray[np.integer[Any]], seeds: NDArray[np.uint64] | None = None) -> Self:
        """Return independent copies of some episodes.

        Args:
            rows: Episodes to copy, in order; an episode may be copied more than once.
            seeds: Futures of the copies. Copies with the same seed have the same draws. By default
                each copy keeps the future of its original.
        """
        other = type(self)(self.market, self.settings)
        other.state = self.state.fork(rows, seeds)
        other.mechanisms = self.mechanisms.take(rows)
        other.steps = self.steps[rows]
        return other

    def put(self, rows: NDArray[np.integer[Any]], other: Self) -> None:
        """Replace episodes in place by those of ``other``, in order."""
        self.state.put(rows, other.state)
        self.mechanisms = self.mechanisms.replace(rows, other.mechanisms)
        self.steps[rows] = other.steps
