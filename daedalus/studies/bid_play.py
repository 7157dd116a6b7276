"""Bids of simulated sales whose values are known: equilibria, a clock, and jump bids."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

_OPENING = (0.1, 0.5)  # first bids of a sale with jump bids, as shares of the values


def clock_bids(values: Numbers) -> Numbers:
    """Return the last bids in a clock that rises until one bidder is left (Milgrom & Weber 1982).

    All stop at their value, but the winner stops with the second. Bids rise within a sale.

    Args:
        values: Values, shape (sales, bidders).
    """
    bids = np.sort(values, axis=1)
    bids[:, -1] = bids[:, -2]
    return bids


def jump_bids(values: Numbers, increment: float, jump: float, rng: np.random.Generator) -> Numbers:
    """Return the last bids of ascending sales whose bidders raise by more than they need.

    Each bidder opens with a tenth to a half of its value. Then one who is not ahead and can beat
    the price by the increment is drawn, and raises. It goes on until nobody can. So nobody bids
    above its value or lets another win at a price that it would beat, as Haile & Tamer (2003)
    assume, and most last bids lie below values.

    Args:
        values: Values, shape (sales, bidders).
        increment: Least step, as a share of the price.
        jump: Largest share of what is left below its value by which a bidder raises further.
        rng: Source of chance.
    """
    bids, rows = values * rng.uniform(*_OPENING, values.shape), np.arange(len(values))
    ahead, price = bids.argmax(axis=1), bids.max(axis=1)
    while True:
        least = price * (1.0 + increment)
        able = values >= least[:, None]
        able[rows, ahead] = False
        open_ = able.any(axis=1)
        if not open_.any():
            return bids
        chosen = np.where(able, rng.random(values.shape), -1.0).argmax(axis=1)
        room = values[rows, chosen] - least
        raised = least + jump * rng.random(len(values)) * room
        bids[rows[open_], chosen[open_]] = raised[open_]
        ahead, price = np.where(open_, chosen, ahead), np.where(open_, raised, price)
