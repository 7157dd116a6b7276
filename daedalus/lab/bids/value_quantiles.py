"""Distributions of values, estimated from bids in the levels of their sales.

Everything is a table of quantiles at ``LEVELS``. In a first-price sale with n bidders a bid b is
the best answer of the value v = b + G(b) / ((n - 1) g(b)) (Guerre, Perrigne & Vuong 2000). Bids
rise with values, so at level u of both, V(u) = Q(u) + u Q'(u) / (n - 1), where Q is the quantile
function of bids (Marmer & Shneyerov 2012). Q' is the slope of a local quadratic in the levels, as
in Gimenes & Guerre 2022. It has no boundary bias of first order, because the levels end at 0 and 1
exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import special

from daedalus.lab.bids.potential import Potential
from daedalus.lab.bids.settings import FIRST_PRICE, SECOND_PRICE
from daedalus.lab.theory.distributions import Integers, Numbers

LEVELS = np.linspace(0.0, 1.0, 101)
"""Levels of the tables of quantiles, in hundredths, shape (K,)."""

_CLASSES = 100
"""Number of classes of sales, by their base."""
_BLOCKS = 1024
_CUT = 0.5 / (len(LEVELS) - 1)
_RULE = 0.9
"""Bandwidth in levels of one bid. It is that of Guerre, Perrigne & Vuong (2000), 1.06 x 2.978
standard deviations for the triweight kernel, where levels have the deviation 1/sqrt(12)."""


@dataclass(frozen=True)
class Tables:
    """What bids tell of values. All count in the level of their sale that bidders knew.

    Attributes:
        values: Quantiles of values at ``LEVELS``, rising, shape (K,).
        low: Quantiles that are at most those of values; ``values`` if the format tells them.
        high: Quantiles that are at least those of values; ``values`` if the format tells them.
        by_size: Quantiles by number of bidders; empty for ascending sales, and if a reserve kept
            bidders away.
        bids: Quantiles of bids by number of bidders, without what bids of a sale have in common.
        common: Levels that sales have beyond what covariates lead to expect, equally likely, shape
            (Y,); 1 alone if there are none.
    """

    values: Numbers
    low: Numbers
    high: Numbers
    by_size: dict[int, Numbers]
    bids: dict[int, Numbers]
    common: Numbers

    @property
    def has_bounds(self) -> bool:
        """Return whether bids tell bounds of values alone, as those of ascending sales do."""
        return self.low is not self.values

    @classmethod
    def told(
        cls, values: Numbers, by_size: dict[int, Numbers], bids: dict[int, Numbers],
        common: Iterable[float] = (1.0,),
    ) -> Tables:  # fmt: skip
        """Return the tables of a format that tells values and not only bounds of them."""
        return cls(values, values, values, by_size, bids, np.array(common))


def bandwidth(bids: float, factor: float = 1.0) -> float:
    """Return the bandwidth in levels for a number of bids: it falls with its fifth root."""
    return float(min(0.5, factor * _RULE * bids**-0.2))


def quantiles_of(numbers: Numbers, weights: Numbers) -> Numbers:
    """Return the quantiles of weighted numbers at ``LEVELS``; the ends are half a step inside."""
    order = np.argsort(numbers, kind="stable")
    return _quantiles(numbers[order], _middles(weights[order]), LEVELS.clip(_CUT, 1.0 - _CUT))


def first_price_values(
    bids: Numbers, weights: Numbers, bidders: int, smoothing: float, excluded: float = 0.0
) -> Numbers:
    """Return the quantiles of values behind first-price bids, rising, shape (K,).

    Args:
        bids: Bids of sales with one number of bidders, above 0, shape (L,).
        weights: How often each counts, shape (L,).
        bidders: That number n, at least 2.
        smoothing: Bandwidth in levels, see ``bandwidth``.
        excluded: Share of the values of n potential bidders below a reserve that binds. Values
            found are those of the others.
    """
    order = np.argsort(bids, kind="stable")
    ordered, counts = bids[order], weights[order]
    at = LEVELS.clip(_CUT, 1.0 - _CUT)
    quantiles = _quantiles(ordered, _middles(counts), at)
    unit = float(_quantiles(ordered, _middles(counts), np.array(0.5)))
    slope = _slopes(round(smoothing, 4)) @ _blocks(np.log1p(ordered / unit), counts)
    below = excluded / (1.0 - excluded) + at
    markup = below * np.maximum(slope, 0.0) * (unit + quantiles) / (bidders - 1)
    known = at <= 1.0 - smoothing**2  # above, the slope of a steep tail would be noise
    markup[~known] = markup[known][-1]
    return np.sort(quantiles + markup)  # rearranged: Chernozhukov, Fernandez-Val & Galichon 2010


def ascending_tables(
    bids: Numbers, sale: Integers, bidders: Integers, weights: Numbers,
    increment: float,
) -> Tables:  # fmt: skip
    """Return what ascending bids tell: bounds of values by Haile & Tamer (2003), and their middle.

    Nobody bids above its value, and nobody lets another win at a price that it would beat. So each
    order statistic of bids bounds the distribution function from above, and the highest bid, raised
    by the increment, bounds it from below. Jump bids, which raise by more, are allowed.

    Bounds of a sample are off by chance as its values are, so their intervals come from the
    bootstrap. If all bid up to their values, the two are equal but for chance. Where they cross,
    the one of the highest bid counts for both: it is free of the bias that the lowest of several
    estimates has.

    Args:
        bids: The last bid of each bidder, sale by sale and rising, shape (L,).
        sale: The sale of each bid, shape (L,).
        bidders: Number of bidders of each sale, shape (A,).
        weights: How often each sale counts, shape (A,).
        increment: Least step, as a share of the bid.
    """
    rank = np.arange(len(sale)) - np.searchsorted(sale, sale)
    places = quantiles_of(bids * (1.0 + increment), weights[sale])
    above, below = np.ones(len(places)), np.zeros(len(places))
    for size in np.unique(bidders[weights > 0]):
        for place in range(size):
            here = (bidders[sale] == size) & (rank == place)
            reached = _share_below(bids[here], weights[sale[here]], places)
            above = np.minimum(above, special.betaincinv(place + 1, size - place, reached))
        raised = _share_below(bids[here] * (1.0 + increment), weights[sale[here]], places)
        below = np.maximum(below, special.betaincinv(size - 1, 2, raised))
    above = np.maximum.accumulate(np.maximum(above, below))  # where they cross by chance
    low, high = (
        np.interp(LEVELS.clip(_CUT, 1.0 - _CUT), *_rising(each, places)) for each in (above, below)
    )
    of_sizes = _bids_by_size(bids, weights[sale], bidders[sale])
    return Tables((low + high) / 2.0, low, high, {}, of_sizes, np.ones(1))


def sealed_tables(
    bids: Numbers, weights: Numbers, bidders: Integers, kind: str, factor: float,
    more_rivals: int,
) -> Tables:  # fmt: skip
    """Return what bids of sealed sales tell that have nothing in common; see ``values_of``.

    Values of all sizes together are weighted by the inverse of their variance: where many bid, bids
    are near to values.
    """
    by_size = {}
    for size in np.unique(bidders).tolist():
        here = bidders == size
        by_size[size] = values_of(bids[here], weights[here], size, kind, factor, more_rivals)
    many, first = np.bincount(bidders, weights), kind == FIRST_PRICE
    counts = {n: many[n] * (n - 1.0) ** (2 * first) for n in by_size}
    total = np.asarray(sum(counts[n] * values for n, values in by_size.items()))
    return Tables.told(total / sum(counts.values()), by_size, _bids_by_size(bids, weights, bidders))


def excluded_tables(
    bids: Numbers, weights: Numbers, potential: Potential, reserve: float, kind: str, factor: float,
    more_rivals: int,
) -> Tables:  # fmt: skip
    """Return what bids tell of all who could have come, also of those whom a reserve kept away.

    Args:
        bids: Bids, shape (L,).
        weights: How often each counts, shape (L,).
        potential: Who could have come to each sale.
        reserve: The reserve, in the unit of the bids.
        kind: The format, ``first_price`` or ``second_price``.
        factor: Factor of the bandwidth.
        more_rivals: How many rivals more, or fewer, the bidders of a first-price sale expected.
    """
    bidders, excluded = potential.bidders, potential.excluded
    came = values_of(bids, weights, bidders, kind, factor, more_rivals, excluded)
    every = with_excluded(came, excluded, reserve)
    return Tables.told(every, {}, {bidders: quantiles_of(bids, weights)})


def with_excluded(came: Numbers, excluded: float, reserve: float) -> Numbers:
    """Return quantiles of all values, also of those who stayed away, shape (K,).

    The log says nothing of these but that they are below the reserve: they are spread evenly.

    Args:
        came: Quantiles of the values of those who came, shape (K,).
        excluded: Share of the values below the reserve.
        reserve: The reserve, in the unit of the values.
    """
    places = (LEVELS - excluded) / max(1.0 - excluded, 1e-9)
    below = reserve * LEVELS / max(excluded, 1e-9)
    return np.where(places < 0.0, below, np.interp(places, LEVELS, came))


def _bids_by_size(bids: Numbers, weights: Numbers, bidders: Integers) -> dict[int, Numbers]:
    """Return the quantiles of bids for each number of bidders that counts."""
    return {
        size: quantiles_of(bids[bidders == size], weights[bidders == size])
        for size in np.unique(bidders[weights > 0]).tolist()
    }


def values_of(
    bids: Numbers, weights: Numbers, bidders: int, kind: str, factor: float, more_rivals: int = 0,
    excluded: float = 0.0,
) -> Numbers:  # fmt: skip
    """Return the quantiles of values behind bids of sealed sales, shape (K,).

    Args:
        bids: Bids of sales to which equally many bidders could come, shape (L,).
        weights: How often each counts, shape (L,).
        bidders: That number.
        kind: The format, ``first_price`` or ``second_price``.
        factor: Factor of the bandwidth.
        more_rivals: How many rivals more, or fewer, the bidders of a first-price sale expected.
        excluded: Share of values below a reserve that binds. Values found are those of the others.

    Raises:
        ValueError: The format is another one.
    """
    if kind == SECOND_PRICE:
        return quantiles_of(bids, weights)
    if kind != FIRST_PRICE:
        raise ValueError(f"format: {kind!r}; choose {FIRST_PRICE} or {SECOND_PRICE}")
    smoothing = bandwidth(float(len(bids)), factor)
    return first_price_values(bids, weights, max(bidders + more_rivals, 2), smoothing, excluded)


def classes_of(bases: Numbers, known: Numbers, weights: Numbers) -> tuple[Numbers, Numbers]:
    """Return the mean base of each class of sales with similar bases, and its mean level.

    Args:
        bases: What the reserve of each sale is a multiple of, in money, shape (A,).
        known: Equally likely levels of each sale, in money, shape (A, Y).
        weights: How often each sale counts, shape (A,).

    Returns:
        The bases in levels, and the levels in money, each of shape (C,).
    """
    relative, levels = (bases[:, None] / known).ravel(), known.ravel()
    order = np.argsort(relative, kind="stable")
    counts = np.repeat(weights, known.shape[1])[order]
    ends = np.concatenate([[0.0], np.cumsum(counts)]) / counts.sum()
    edges = np.linspace(0.0, 1.0, _CLASSES + 1)

    def means(numbers: Numbers) -> Numbers:
        """Return the mean of each class; a sale may be a part of two."""
        sums = np.concatenate([[0.0], np.cumsum(counts * numbers[order])]) / counts.sum()
        return np.asarray(np.diff(np.interp(edges, ends, sums)) * _CLASSES)

    return means(relative), means(levels)


def _middles(weights: Numbers) -> Numbers:
    """Return the level in the middle of each weight."""
    sums = np.cumsum(weights)
    return np.asarray((sums - 0.5 * weights) / sums[-1])


def _quantiles(ordered: Numbers, middles: Numbers, levels: Numbers) -> Numbers:
    return np.asarray(np.interp(levels, middles, ordered))


def _blocks(ordered: Numbers, weights: Numbers) -> Numbers:
    """Return the means of the quantile function over ``_BLOCKS`` equal pieces of the levels."""
    ends = np.concatenate([[0.0], np.cumsum(weights)]) / weights.sum()
    sums = np.concatenate([[0.0], np.cumsum(weights * ordered)]) / weights.sum()
    edges = np.linspace(0.0, 1.0, _BLOCKS + 1)
    return np.asarray(np.diff(np.interp(edges, ends, sums)) * _BLOCKS)


@cache
def _slopes(smoothing: float) -> Numbers:
    """Return weights of the blocks that give the slope of a local quadratic, (K, blocks).

    The kernel is the triweight. It narrows towards the upper end, where quantiles are steep, down
    to a quarter. Where it reaches beyond an end it is cut off there.
    """
    middles = (np.arange(_BLOCKS) + 0.5) / _BLOCKS
    rows = []
    for level in LEVELS.clip(_CUT, 1.0 - _CUT):
        width = np.clip(1.0 - level, smoothing / 4.0, smoothing)
        away = (middles - level) / width
        kernel = np.maximum(1.0 - away**2, 0.0) ** 3
        powers = away ** np.arange(3)[:, None]
        moments = (kernel * powers) @ powers.T
        rows.append(np.linalg.solve(moments, kernel * powers)[1] / width)
    return np.array(rows)


def _share_below(numbers: Numbers, weights: Numbers, places: Numbers) -> Numbers:
    order = np.argsort(numbers, kind="stable")
    sums = np.concatenate([[0.0], np.cumsum(weights[order])])
    return np.asarray(sums[np.searchsorted(numbers[order], places, side="right")] / sums[-1])


def _rising(levels: Numbers, places: Numbers) -> tuple[Numbers, Numbers]:
    """Return the points of a distribution function at which it rises, for interpolation."""
    first = np.concatenate([[True], np.diff(levels) > 1e-9])
    return levels[first], places[first]
