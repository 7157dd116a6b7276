"""The interface of both markets. Other packages use it and need not know the market."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from daedalus.checks import Checked, at_least, one_of
from daedalus.market.literals import MarketName
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observation import Observed
from daedalus.market.outcome import Outcome
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan
from daedalus.market.state import MarketState
from daedalus.market.views import Player

MARKETS: tuple[MarketName, ...] = ("strategic", "classic")


@dataclass
class MarketSettings(Checked):
    """The market, and the shape of an episode.

    Attributes:
        name: One of ``MARKETS``.
        episode_length: Steps in an episode; a designer proposes one mechanism a step.
        rounds_per_step: Rounds in a step.
        scored_rounds: Number of rounds at the end of a step whose mean R is the step's reward.
        warmup_rounds: Rounds under the incumbent before a designer's first observation.
        incumbents: Mechanisms by name. Each episode draws the one that a designer finds in force.
        strategic: Constants of the strategic market.
    """

    name: MarketName = one_of(MARKETS, "strategic")
    episode_length: int = at_least(1, 10, "an integer")
    rounds_per_step: int = at_least(1, 5, "an integer")
    scored_rounds: int = at_least(1, 3, "an integer")
    warmup_rounds: int = at_least(0, 3, "an integer")
    incumbents: dict[str, Mechanism] = field(default_factory=lambda: {"default": Mechanism()})
    strategic: StrategicParameters = field(default_factory=StrategicParameters)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.incumbents:
            raise ValueError("incumbents: give at least one mechanism")
        if self.scored_rounds > self.rounds_per_step:
            raise ValueError(
                f"scored_rounds: {self.scored_rounds}; a step has {self.rounds_per_step} rounds"
            )


def draw_incumbents(mechanisms: Mechanisms, seeds: NDArray[np.uint64]) -> Mechanisms:
    """Return the incumbent of each episode, drawn evenly by the episode's seed alone."""
    from daedalus.market.draws import INCUMBENT, episode_draws  # imports numba, which is slow

    draws = episode_draws(np.asarray(seeds, np.uint64), INCUMBENT)[:, 0]
    return mechanisms.take((draws * len(mechanisms)).astype(np.int64))


@dataclass(frozen=True)
class Unmasked:
    """The hidden side of a bidder. Pages for people show it; designers never see it.

    Attributes:
        type: Name of its type or group.
        habits: Its strategies.
        false_bid: Its last bid under a false name, in units of value; 0 if there was none.
        value: What one unit was worth to it in the last round; 0 if it drew no value.
        spent: All its payments so far, in units of value. NaN in the classic market, which sells
            one unit a round, so that a winner pays the price.
    """

    type: str
    habits: tuple[str, ...]
    false_bid: float
    value: float
    spent: float


class Market(Protocol):
    """A repeated auction, played in batches of B independent episodes."""

    @property
    def population(self) -> Population | SeatPlan:
        """Return the bidders, of which n take part in each episode."""
        ...

    @property
    def players(self) -> Mapping[str, Player]:
        """Return who bids in Python, by the name of its type; most markets have nobody."""
        ...

    def reset(self, seeds: NDArray[np.uint64]) -> MarketState:
        """Return B fresh markets, one for each seed."""
        ...

    def observe(self, state: MarketState) -> Observed:
        """Return what the auctioneer sees of each market."""
        ...

    def unmask(self, state: MarketState) -> list[Unmasked]:
        """Return the hidden side of the n bidders of the first market."""
        ...

    def play(self, state: MarketState, mechanisms: Mechanisms, rounds: int) -> Outcome:
        """Play ``rounds`` rounds in every market, changing ``state`` in place.

        Args:
            state: B markets of this population.
            mechanisms: B mechanisms, one for each market.
            rounds: Number of rounds, 0 or more.

        Returns:
            The records of the rounds.

        Raises:
            ValueError: Sizes do not match or ``rounds`` is negative; nothing has been played.
        """
        ...


def types_of_bidders(market: Market) -> Population:
    """Return the market's population, which must consist of types of bidders.

    Raises:
        ValueError: It is a seat plan, so the market is the classic one.
    """
    if isinstance(market.population, Population):
        return market.population
    raise ValueError("only the strategic market has types of bidders; use market=strategic")
