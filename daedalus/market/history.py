"""The last rounds of a batch of markets, which observations and outcomes share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from daedalus.market.outcome import ROUND_FIELDS

HISTORY_LENGTH = 20
"""Number of past rounds in an observation."""


@dataclass(frozen=True)
class History:
    """The last 20 rounds of B markets. It never changes, so an observation need not copy it.

    Attributes:
        blocks: Records of successive rounds, oldest first. Each is float64, of shape (B, r, 10) and
            in the order of ``ROUND_FIELDS``, and all r add up to 20. NaN before the first round.
    """

    blocks: tuple[NDArray[np.float64], ...]

    @classmethod
    def unplayed(cls, batch: int) -> Self:
        """Return the history of ``batch`` markets before their first round."""
        return cls((np.broadcast_to(np.nan, (batch, HISTORY_LENGTH, len(ROUND_FIELDS))),))

    def then(self, records: NDArray[np.float64]) -> Self:
        """Return the history after more rounds. It shares ``records``, which become read-only."""
        records.flags.writeable = False
        blocks, excess = [*self.blocks, records], records.shape[1]
        while blocks[0].shape[1] <= excess:
            excess -= blocks.pop(0).shape[1]
        return type(self)((blocks[0][:, excess:], *blocks[1:]))

    def rounds(self) -> NDArray[np.float64]:
        """Return a copy of the rounds, oldest first, shape (B, 20, 10)."""
        return np.concatenate(self.blocks, axis=1)

    def field(self, name: str) -> NDArray[np.float64]:
        """Return a copy of one column, oldest round first, shape (B, 20)."""
        column = ROUND_FIELDS.index(name)
        return np.concatenate([each[:, :, column] for each in self.blocks], axis=1)

    def take(self, rows: NDArray[np.integer[Any]]) -> Self:
        """Return the given markets, in that order, with repeats allowed."""
        return type(self)(tuple(each[rows] for each in self.blocks))

    def replace(self, rows: NDArray[np.integer[Any]], others: Self) -> Self:
        """Return a copy in which the given markets are those of ``others``, in order."""
        rounds = self.rounds()
        rounds[rows] = others.rounds()
        return type(self)((rounds,))

    @property
    def nbytes(self) -> int:
        """Return the bytes of all rounds."""
        return sum(each.nbytes for each in self.blocks)
