"""Equilibrium of a first-price sale of one unit to bidders whose values differ in distribution.

It has no closed form (Marshall, Meurer, Richard & Stromquist 1994). It is sought by fictitious play
(Brown 1951): each turn a bidder adds its best reply to what it has bid so far, against what its
rivals have bid so far. ``Equilibrium.gain`` says how near the result is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from daedalus.lab.theory.distributions import Integers, Numbers
from daedalus.lab.theory.sales import Bidder

_LEVELS, _BIDS, _TURNS, _HASTE = 100, 401, 300, 4.0


class Equilibrium(NamedTuple):
    """An approximate equilibrium.

    Attributes:
        revenue: Expected revenue of the sale, in units of value.
        gain: What a bidder gains more by its best reply, in the mean over its values; that of the
            bidder who gains most.
    """

    revenue: float
    gain: float


def first_price_equilibrium(bidders: Sequence[Bidder], reserve: float = 0.0) -> Equilibrium:
    """Return an equilibrium in which all bidders know the reserve.

    Args:
        bidders: At least two bidders, for one unit each.
        reserve: Lowest bid r that competes.
    """
    play = _Play.of(bidders, reserve)
    for turn in range(1, _TURNS):
        for own in range(len(bidders)):
            play.add(own, play.payoffs(own).argmax(axis=1), _HASTE / (turn + _HASTE))
    return Equilibrium(play.revenue, max(play.gain(own) for own in range(len(bidders))))


@dataclass(frozen=True)
class _Play:
    """What n bidders have bid so far. The first bid of the grid is no bid.

    Attributes:
        values: Values at L even levels, shape (n, L).
        grid: The bids that are tried, shape (B,).
        bids: Share of each bid at each level, changed in place, shape (n, L, B).
        means: Their means over levels, changed with them, shape (n, B).
    """

    values: Numbers
    grid: Numbers
    bids: Numbers
    means: Numbers

    @classmethod
    def of(cls, bidders: Sequence[Bidder], reserve: float) -> _Play:
        """Return the play before the first turn: nobody bids.

        No bid above the second of the highest values, one for each bidder, is a best reply.
        """
        levels = (np.arange(_LEVELS) + 0.5) / _LEVELS
        values = np.array([each.values.quantile(levels) for each in bidders])
        top = max(reserve, sorted(each.values.places[-1] for each in bidders)[-2])
        grid = np.concatenate([[0.0], np.linspace(reserve, top, _BIDS - 1)])
        bids = np.zeros((len(bidders), _LEVELS, _BIDS))
        bids[:, :, 0] = 1.0
        return cls(values, grid, bids, bids.mean(axis=1))

    def add(self, own: int, best: Integers, weight: float) -> None:
        """Add bids, given by number for each level, with a weight from 0 to 1."""
        self.bids[own] *= 1.0 - weight
        self.bids[own, np.arange(_LEVELS), best] += weight
        self.means[own] = self.bids[own].mean(axis=0)

    def payoffs(self, own: int) -> Numbers:
        """Return the expected surplus of each bid at each level, shape (L, B).

        Half of the ties with a rival are lost, and no bid wins nothing.
        """
        shares = np.delete(self.means, own, axis=0)
        below = np.cumsum(shares, axis=1)
        below[:, 1:] -= shares[:, 1:] / 2.0
        found = (self.values[own][:, None] - self.grid) * below.prod(axis=0)
        found[:, 0] = 0.0
        return np.asarray(found)

    def gain(self, own: int) -> float:
        """Return what a bidder's best reply gains more than what it has bid."""
        payoffs = self.payoffs(own)
        made = (payoffs * self.bids[own]).sum(axis=1)
        return float((payoffs.max(axis=1) - made).mean())

    @property
    def revenue(self) -> float:
        """Return the mean of the highest bid."""
        highest = np.cumsum(self.means, axis=1).prod(axis=0)
        return float(np.diff(highest) @ self.grid[1:])
