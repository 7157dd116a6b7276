"""The state of a batch of markets, and how it is forked."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import HISTORY_LENGTH, ROUND_FIELDS


@dataclass
class MarketState:
    """State of B independent markets; every array has B rows, and each market adds its own.

    Attributes:
        seeds: Key of every future draw, uint64, shape (B,).
        rounds: Rounds played, int64, shape (B,).
        active: Whether a bidder is in the market, shape (B, n).
        bids: Last round's bids, shape (B, n).
        previous_bids: Bids of the round before, shape (B, n).
        wins: Sales won so far, int64, shape (B, n).
        history: Ring buffer of round records, shape (B, 20, 10); round r is in slot r mod 20.
    """

    seeds: NDArray[np.uint64]
    rounds: NDArray[np.int64]
    active: NDArray[np.bool_]
    bids: NDArray[np.float64]
    previous_bids: NDArray[np.float64]
    wins: NDArray[np.int64]
    history: NDArray[np.float64]

    @staticmethod
    def common(seeds: NDArray[np.uint64], bidders: int) -> dict[str, NDArray[Any]]:
        """Return the arrays of this class for fresh markets, by name."""
        batch = len(seeds)
        return {
            "seeds": np.array(seeds, dtype=np.uint64),
            "rounds": np.zeros(batch, np.int64),
            "active": np.ones((batch, bidders), np.bool_),
            "bids": np.zeros((batch, bidders)),
            "previous_bids": np.zeros((batch, bidders)),
            "wins": np.zeros((batch, bidders), np.int64),
            "history": np.full((batch, HISTORY_LENGTH, len(ROUND_FIELDS)), np.nan),
        }

    def __len__(self) -> int:
        """Return B."""
        return len(self.seeds)

    @property
    def over(self) -> NDArray[np.bool_]:
        """Return whether everybody has left, shape (B,)."""
        return np.asarray(~self.active.any(axis=1))

    def fork(self, rows: NDArray[np.integer[Any]], seeds: NDArray[np.uint64] | None = None) -> Self:
        """Copy rows, which may repeat, so that they can go on under other mechanisms.

        Args:
            rows: Which markets to copy, in order.
            seeds: Futures of the copies, shape of ``rows``; copies with one seed face the same
                draws. By default each copy keeps the future of its original.

        Returns:
            An independent state of ``len(rows)`` markets.
        """
        arrays = {f.name: getattr(self, f.name)[rows] for f in dataclasses.fields(self)}
        if seeds is not None:
            if seeds.shape != np.shape(rows):
                raise ValueError(f"seeds: shape {seeds.shape}; give one seed for each of the rows")
            arrays["seeds"] = seeds.astype(np.uint64)
        return type(self)(**arrays)

    def put(self, rows: NDArray[np.integer[Any]], other: Self) -> None:
        """Overwrite rows in place by the markets of ``other``, in order."""
        for f in dataclasses.fields(self):
            getattr(self, f.name)[rows] = getattr(other, f.name)

    def recent(self) -> NDArray[np.float64]:
        """Return the ring buffer unrolled, oldest round first, shape (B, 20, 10)."""
        slots = (self.rounds[:, None] + np.arange(HISTORY_LENGTH)) % HISTORY_LENGTH
        return np.take_along_axis(self.history, slots[:, :, None], axis=1)


def checked_play(
    state: MarketState, mechanisms: Mechanisms, rounds: int, bidders: int
) -> Mechanisms:
    """Return a checked copy of the mechanisms, because kernels check no size and no value.

    Raises:
        ValueError: The sizes do not match, or a mechanism was changed to something out of range.
    """
    held = state.active.shape[1]
    if held != bidders:
        raise ValueError(f"state: {held} bidders; this market has {bidders} bidders")
    if len(mechanisms) != len(state):
        raise ValueError(f"{len(mechanisms)} mechanisms for {len(state)} markets")
    if rounds < 0:
        raise ValueError(f"rounds: {rounds}; give an integer from 0 up")
    return mechanisms.checked()
