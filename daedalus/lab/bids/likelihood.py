"""The likelihood of the bids of sales whose bidders share what the log does not show.

A log bid is y + a: y is the part that the bidders of a sale have in common, normal around 0, and a
the private part. The likelihood of a sale is the integral over y of the product of the densities of
its private parts. Gauss-Legendre nodes lie where all of them are possible, so that it is smooth in
the ends of the private part, at which its density may jump.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

from daedalus.lab.theory.distributions import Integers, Numbers

CELLS = 600
"""Cells of the tables of distribution functions of private parts."""

_REACH = 5.0  # standard deviations of the common part
_ODD = 1e-3  # weight of a broad density, so that no single bid is impossible
_BROAD = 2.0  # its standard deviation, in those of the log bids
_NODES, _WEIGHTS = leggauss(16)


@dataclass(frozen=True)
class SealedBids:
    """Log bids of sealed sales, sale by sale.

    Attributes:
        logs: Log bids less what covariates lead to expect, shape (L,).
        half: Half the width of the interval of logs that each bid stands for, shape (L,); 0 if
            bids are not rounded.
        bidders: Number of bidders of each sale, shape (A,); their bids follow one another.
    """

    logs: Numbers
    half: Numbers
    bidders: Integers

    @cached_property
    def first(self) -> Integers:
        """Return the place of the first bid of each sale, and the end, shape (A + 1,)."""
        return np.concatenate([[0], np.cumsum(self.bidders)])

    @cached_property
    def sizes(self) -> Integers:
        """Return the numbers of bidders that there are, rising, shape (S,)."""
        return np.unique(self.bidders)

    @cached_property
    def group(self) -> Integers:
        """Return the place of each sale's number of bidders in ``sizes``, shape (A,)."""
        return np.searchsorted(self.sizes, self.bidders)

    def only(self, sales: NDArray[np.bool_]) -> SealedBids:
        """Return some of the sales; these are told by a mask of shape (A,)."""
        rows = np.repeat(sales, self.bidders)
        return SealedBids(self.logs[rows], self.half[rows], self.bidders[sales])

    @cached_property
    def broad(self) -> Numbers:
        """Return the likelihood of each sale by a broad normal distribution, shape (A,)."""
        deviation = _BROAD * float(self.logs.std())
        away = (self.logs - self.logs.mean()) / deviation
        logs = -0.5 * away**2 - np.log(deviation * np.sqrt(2.0 * np.pi))
        return np.asarray(np.exp(np.add.reduceat(logs, self.first[:-1])))


def log_likelihoods(bids: SealedBids, tables: Numbers, ends: Numbers, deviation: float) -> Numbers:
    """Return the log likelihood of each sale, shape (A,).

    Args:
        bids: The bids.
        tables: Distribution functions of private parts at ``CELLS + 1`` equally distant points, a
            row for each of the numbers of bidders, shape (S, CELLS + 1).
        ends: First and last point of each row, in logs, shape (S, 2).
        deviation: Standard deviation of the common part, above 0.
    """
    found = np.empty(len(bids.bidders))
    _integrate(
        bids.logs, bids.half, bids.first, bids.group, tables, ends, deviation, _NODES, _WEIGHTS,
        found,
    )  # fmt: skip
    return np.asarray(np.log((1.0 - _ODD) * found + _ODD * bids.broad))


@njit(cache=True, error_model="numpy", nogil=True)
def _integrate(logs, half, first, group, tables, ends, deviation, nodes, weights, found):  # type: ignore[no-untyped-def]
    """Write the likelihood of each sale to ``found``."""
    for sale in range(len(found)):
        start, end, row = first[sale], first[sale + 1], group[sale]
        low, high = logs[start:end].max() - ends[row, 1], logs[start:end].min() - ends[row, 0]
        low, high = max(low, -_REACH * deviation), min(high, _REACH * deviation)
        found[sale] = 0.0
        if high <= low:
            continue
        for node in range(len(nodes)):
            common = 0.5 * (low + high + (high - low) * nodes[node])
            density = 0.5 * (high - low) * weights[node]
            density *= np.exp(-0.5 * (common / deviation) ** 2) / (deviation * np.sqrt(2.0 * np.pi))
            for bid in range(start, end):
                density *= _density(logs[bid] - common, half[bid], tables[row], ends[row])
            found[sale] += density


@njit(cache=True, error_model="numpy", nogil=True)
def _density(place, half, table, ends):  # type: ignore[no-untyped-def]
    """Return the mean density over an interval around a place, of one cell at least."""
    cell = (ends[1] - ends[0]) / (len(table) - 1)
    half = max(half, 0.5 * cell)
    below = _share((place - half - ends[0]) / cell, table)
    return (_share((place + half - ends[0]) / cell, table) - below) / (2.0 * half)


@njit(cache=True, error_model="numpy", nogil=True)
def _share(place, table):  # type: ignore[no-untyped-def]
    """Return a distribution function at a place, in cells from its first point."""
    if place <= 0.0:
        return 0.0
    if place >= len(table) - 1:
        return 1.0
    whole = int(place)
    return table[whole] + (table[whole + 1] - table[whole]) * (place - whole)
