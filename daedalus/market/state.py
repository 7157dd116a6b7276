"""The state of a batch of markets, and forks of it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from daedalus.market.history import HISTORY_LENGTH, History
from daedalus.market.mechanism import Mechanisms


@dataclass
class MarketState:
    """State of B independent markets. Each array has B rows; a market adds its own arrays.

    Attributes:
        seeds: Key of all later draws, uint64, shape (B,).
        sizes: Number of bidders, int64, shape (B,). Bidders have the first of n seats; the arrays
            below hold zeros for the others.
        units: Units for sale in a round, int64, shape (B,).
        rounds: Rounds played, int64, shape (B,).
        active: Whether each bidder is in the market, shape (B, n).
        bids: Last round's bids, shape (B, n).
        previous_bids: Bids of the round before, shape (B, n).
        wins: Sales won so far, int64, shape (B, n).
        prices: Ring buffer of the last prices, shape (B, 20); round r is in slot r mod 20.
        history: The last rounds, as the auctioneer knows them.
    """

    seeds: NDArray[np.uint64]
    sizes: NDArray[np.int64]
    units: NDArray[np.int64]
    rounds: NDArray[np.int64]
    active: NDArray[np.bool_]
    bids: NDArray[np.float64]
    previous_bids: NDArray[np.float64]
    wins: NDArray[np.int64]
    prices: NDArray[np.float64]
    history: History

    @staticmethod
    def common(
        seeds: NDArray[np.uint64],
        sizes: NDArray[np.int64],
        units: NDArray[np.int64],
        seats: int,
    ) -> dict[str, Any]:
        """Return the fields of this class for fresh markets with ``seats`` seats, by name."""
        batch = len(seeds)
        return {
            "seeds": np.array(seeds, dtype=np.uint64),
            "sizes": np.array(sizes, dtype=np.int64),
            "units": np.array(units, dtype=np.int64),
            "rounds": np.zeros(batch, np.int64),
            "active": np.arange(seats) < np.asarray(sizes)[:, None],
            "bids": np.zeros((batch, seats)),
            "previous_bids": np.zeros((batch, seats)),
            "wins": np.zeros((batch, seats), np.int64),
            "prices": np.zeros((batch, HISTORY_LENGTH)),
            "history": History.unplayed(batch),
        }

    def __len__(self) -> int:
        """Return B."""
        return len(self.seeds)

    @property
    def over(self) -> NDArray[np.bool_]:
        """Return whether all bidders have left, shape (B,)."""
        return np.asarray(~self.active.any(axis=1))

    def fork(self, rows: NDArray[np.integer[Any]], seeds: NDArray[np.uint64] | None = None) -> Self:
        """Return independent copies of some markets.

        Args:
            rows: Markets to copy, in order; a market may be copied more than once.
            seeds: Futures of the copies, shape of ``rows``. Copies with the same seed have the same
                draws. By default each copy keeps the future of its original.

        Raises:
            ValueError: There is not one seed for each row.
        """
        arrays = {name: array[rows] for name, array in self._arrays().items()}
        if seeds is not None:
            if seeds.shape != np.shape(rows):
                raise ValueError(f"seeds: shape {seeds.shape}; give one seed for each of the rows")
            arrays["seeds"] = seeds.astype(np.uint64)
        return type(self)(**arrays, history=self.history.take(rows))

    def put(self, rows: NDArray[np.integer[Any]], other: Self) -> None:
        """Replace rows in place by the markets of ``other``, in order."""
        for name, array in self._arrays().items():
            array[rows] = getattr(other, name)
        self.history = self.history.replace(rows, other.history)

    @property
    def nbytes(self) -> int:
        """Return the bytes of all markets."""
        return self.history.nbytes + sum(each.nbytes for each in self._arrays().values())

    def _arrays(self) -> dict[str, NDArray[Any]]:
        names = (each.name for each in dataclasses.fields(self) if each.name != "history")
        return {name: getattr(self, name) for name in names}


def check_play(state: MarketState, mechanisms: Mechanisms, rounds: int, seats: int) -> None:
    """Check the sizes, which kernels take as they are.

    Raises:
        ValueError: The sizes do not match.
    """
    held = state.active.shape[1]
    if held != seats:
        raise ValueError(f"state: {held} bidders; this market has {seats} bidders")
    if len(mechanisms) != len(state):
        raise ValueError(f"{len(mechanisms)} mechanisms for {len(state)} markets; give one each")
    if rounds < 0:
        raise ValueError(f"rounds: {rounds}; give an integer from 0 up")
