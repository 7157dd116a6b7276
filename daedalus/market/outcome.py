"""Results of a market: round records, which score a designer, and observations, which it sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from daedalus.market.mechanism import Mechanisms

ROUND_FIELDS = (
    "welfare",
    "gini",
    "participation",
    "clearing_price",
    "dropouts",
    "collusion_signal",
    "stability",
    "composite",
    "revenue",
    "revenue_share",
)
"""Columns of a round's record, see ``Outcome``."""

(
    WELFARE, GINI, PARTICIPATION, PRICE, DROPOUTS, COLLUSION_SIGNAL, STABILITY, COMPOSITE, REVENUE,
    REVENUE_SHARE,
) = range(len(ROUND_FIELDS))  # fmt: skip
"""Their numbers, for kernels."""

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

HISTORY_LENGTH = 20
"""Number of past rounds in an observation."""


@dataclass(frozen=True)
class Outcome:
    """Records of R rounds in B episodes.

    Attributes:
        records: float64, shape (B, R, 10), in the order of ``ROUND_FIELDS``. Welfare W, Gini of
            surplus, participation P, stability S, collusion signal, composite R and revenue's
            share of the value delivered are in [0, 1]. Clearing price (0 without a sale) and
            revenue are in units of value. Dropouts are the number of bidders who stayed out or
            walked away. Records score a designer. They may depend on values, which it does not
            see.
    """

    records: NDArray[np.float64]

    def field(self, name: str) -> NDArray[np.float64]:
        """Return one column, shape (B, R).

        Raises:
            ValueError: There is no such column.
        """
        return self.records[:, :, ROUND_FIELDS.index(name)]

    @property
    def welfare(self) -> NDArray[np.float64]:
        """Return W, the value delivered over the highest possible, shape (B, R), in [0, 1]."""
        return self.field("welfare")

    @property
    def fairness(self) -> NDArray[np.float64]:
        """Return F = 1 - Gini, shape (B, R), in [0, 1]."""
        return 1.0 - self.field("gini")

    @property
    def participation(self) -> NDArray[np.float64]:
        """Return P, the share of bidders who compete, shape (B, R), in [0, 1]."""
        return self.field("participation")

    @property
    def stability(self) -> NDArray[np.float64]:
        """Return S, steadiness of welfare, shape (B, R), in [0, 1]."""
        return self.field("stability")

    @property
    def composite(self) -> NDArray[np.float64]:
        """Return R, the round's composite reward, shape (B, R), in [0, 1]."""
        return self.field("composite")


class Observed(NamedTuple):
    """What an auctioneer sees of B markets; the arrays are copies.

    Attributes:
        recent: The last rounds, shape (B, 20, 10), see ``Observation``.
        proxies: Statistics of the population, shape (B, 10), see ``Observation``.
    """

    recent: NDArray[np.float64]
    proxies: NDArray[np.float64]


@dataclass(frozen=True)
class Observation:
    """What a designer sees of B markets. It never contains values, types or budgets.

    Attributes:
        mechanisms: The B mechanisms in force.
        recent: The last rounds, oldest first, shape (B, 20, 10), in the order of
            ``ROUND_FIELDS``; NaN before the first round. In the strategic market these are the
            auctioneer's own records: welfare and revenue's share from bids, Gini from units
            delivered, participation from all names that bid. In the classic market they are the
            records that score.
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
    """

    mechanisms: Mechanisms
    recent: NDArray[np.float64]
    proxies: NDArray[np.float64]
    round_number: NDArray[np.int64]
    episode_length: int
    stage: int

    def __len__(self) -> int:
        """Return B."""
        return len(self.round_number)

    def field(self, name: str) -> NDArray[np.float64]:
        """Return one column of the recent rounds, shape (B, 20)."""
        return self.recent[:, :, ROUND_FIELDS.index(name)]

    def proxy(self, name: str) -> NDArray[np.float64]:
        """Return one population proxy, shape (B,)."""
        return self.proxies[:, PROXIES.index(name)]
