"""What a designer sees of a batch of markets."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from daedalus.market.goal import Goal
from daedalus.market.history import History
from daedalus.market.mechanism import Mechanisms

PROXIES = (
    "active_count",
    "total_bidders",
    "bid_mean",
    "bid_std",
    "bid_correlation",
    "rotation_entropy",
    "dropout_rate",
    "budget_exhaustion",
    "clearing_price_trend",
    "units",
)
"""Columns of the population proxies, see ``Observation``."""


class Observed(NamedTuple):
    """What an auctioneer sees of B markets. It stays as it is when they play on.

    ``Observation`` describes both.
    """

    history: History
    proxies: NDArray[np.float64]


@dataclass(frozen=True)
class Observation:
    """What a designer sees of B markets. It never contains values, types or budgets.

    Attributes:
        mechanisms: The B mechanisms in force.
        history: The last rounds. In the strategic market these are the auctioneer's own records:
            welfare and revenue's share from bids, Gini from units delivered, participation from
            all names that bid. In the classic market they are the records that score.
        proxies: Statistics of the population, shape (B, 10), in the order of ``PROXIES``: bidders
            present and in all; mean and standard deviation of positive bids; correlation across
            bidders of the last two rounds' bids; entropy of win counts over its maximum; share of
            bidders absent; share of bidders absent who had won before; least-squares slope of the
            recent clearing prices, in value per round; units for sale in a round. Presence, bids
            and absence are the last round's in the classic market. In the strategic market they
            are decayed means, and false names count as bidders.
        round_number: Steps played, shape (B,).
        episode_length: Steps in an episode.
        stage: Curriculum stage of the population.
        goals: The ``Goal`` of each market, shape (B,); empty if nobody said.
    """

    mechanisms: Mechanisms
    history: History
    proxies: NDArray[np.float64]
    round_number: NDArray[np.int64]
    episode_length: int
    stage: int
    goals: NDArray[np.object_] = field(default_factory=lambda: np.empty(0, object))

    def __repr__(self) -> str:
        """Return the number of markets, their steps and the means of their proxies, in one line."""
        if not len(self):
            return "Observation(markets=0)"
        first, last, length = self.round_number.min(), self.round_number.max(), self.episode_length
        steps = f"{first}" if first == last else f"{first} to {last}"
        means = zip(PROXIES, self.proxies.mean(axis=0), strict=True)
        shown = ", ".join(f"{name} {mean:.3g}" for name, mean in means)
        return f"Observation(markets={len(self)}, steps={steps} of {length}, means: {shown})"

    def __len__(self) -> int:
        """Return B."""
        return len(self.round_number)

    @cached_property
    def recent(self) -> NDArray[np.float64]:
        """Return the last rounds, oldest first, shape (B, 20, 10); NaN before the first round.

        Columns are in the order of ``ROUND_FIELDS``.
        """
        rounds = self.history.rounds()
        rounds.flags.writeable = False
        return rounds

    def goal(self, row: int) -> Goal:
        """Return what is asked for in one market."""
        return self.goals[row] if len(self.goals) else Goal()

    def field(self, name: str) -> NDArray[np.float64]:
        """Return one column of the recent rounds, shape (B, 20)."""
        return self.history.field(name)

    def proxy(self, name: str) -> NDArray[np.float64]:
        """Return one population proxy, shape (B,)."""
        return self.proxies[:, PROXIES.index(name)]
