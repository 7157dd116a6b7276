"""Records of rounds, which score a designer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

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


@dataclass(frozen=True)
class Outcome:
    """Records of R rounds in B episodes.

    Attributes:
        records: float64, shape (B, R, 10), in the order of ``ROUND_FIELDS``. Welfare W, Gini of
            surplus, participation P, stability S, collusion signal, composite R and revenue's
            share of the value delivered are in [0, 1]. Clearing price (0 without a sale) and
            revenue are in units of value. Dropouts are the number of bidders who stayed out or
            walked away. Records score a designer. They may depend on values, which it does not
            see. A round that was not played has NaN in every column.
        units: Units for sale in a round of each episode, int64, shape (B,).
    """

    records: NDArray[np.float64]
    units: NDArray[np.int64]

    def __repr__(self) -> str:
        """Return the numbers of episodes and rounds, and the mean of each column, in one line."""
        episodes, rounds = self.records.shape[:2]
        if not self.played.any():
            return f"Outcome(episodes={episodes}, rounds={rounds}, none played)"
        means = zip(ROUND_FIELDS, self.records[self.played].mean(axis=0), strict=True)
        shown = ", ".join(f"{name} {mean:.3g}" for name, mean in means)
        return f"Outcome(episodes={episodes}, rounds={rounds}, means: {shown})"

    @property
    def played(self) -> NDArray[np.bool_]:
        """Return whether each round was played, shape (B, R)."""
        return ~np.isnan(self.records[:, :, WELFARE])

    def field(self, name: str) -> NDArray[np.float64]:
        """Return one column, or ``fairness`` (F = 1 - Gini), shape (B, R).

        Raises:
            ValueError: There is no such column.
        """
        if name == "fairness":
            return 1.0 - self.field("gini")
        return self.records[:, :, ROUND_FIELDS.index(name)]

    def rows(self, rows: NDArray[Any]) -> Outcome:
        """Return the rounds of some episodes, given by numbers or by a mask."""
        return Outcome(self.records[rows], self.units[rows])

    def last(self, rounds: int) -> Outcome:
        """Return the last rounds of each episode."""
        return Outcome(self.records[:, -rounds:], self.units)

    def rounds_apart(self) -> Outcome:
        """Return each round that was played as an episode of one round, in order."""
        played = self.played
        units = np.broadcast_to(self.units[:, None], played.shape)
        return Outcome(self.records[played][:, None], units[played])
