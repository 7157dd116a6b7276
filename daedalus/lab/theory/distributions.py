"""Distributions of values in theory: virtual values and their ironing (Myerson 1981).

A distribution function is linear between its knots, as in ``daedalus.market.value_distribution``.
A virtual value is so linear in the level between two knots, and all here is exact up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from daedalus.market.value_distribution import Knots

Numbers = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Distribution:
    """A distribution function that is linear between its knots.

    Knots at one place are an atom: the value has this place with a probability above 0. Knots at
    one level are a gap, in which no value lies.

    Attributes:
        levels: The function at each knot, from 0 to 1, none below the one before, shape (K,).
        places: The knots, in units of value, none below the one before, shape (K,).
    """

    levels: Numbers
    places: Numbers

    @classmethod
    def of(cls, knots: Knots, low: float = 0.0, high: float = 1.0) -> Self:
        """Return the distribution of low + (high - low) x, where x is distributed as knots say."""
        return cls(knots.levels, low + (high - low) * knots.places)

    def up_to(self, values: Numbers | float) -> Numbers:
        """Return the distribution function at some values, of the same shape."""
        return _line(values, self.places, self.levels)

    def quantile(self, levels: Numbers | float) -> Numbers:
        """Return the quantiles at some levels in [0, 1]; at a gap, its upper end."""
        return _line(levels, self.levels, self.places)

    def density(self, values: Numbers | float) -> Numbers:
        """Return the density to the right of some values, of the same shape; 0 outside."""
        at = np.searchsorted(self.places, values, side="right")
        inside = (at > 0) & (at < len(self.places))
        right = np.where(inside, at, 1)
        rise = self.levels[right] - self.levels[right - 1]
        run = self.places[right] - self.places[right - 1]
        return np.where(inside, rise / np.where(inside, run, 1.0), 0.0)

    @property
    def lowest(self) -> float:
        """Return the lowest value that may be drawn; a gap below it is left out."""
        return float(self.places[(self.levels > self.levels[0]).argmax() - 1])

    @property
    def highest(self) -> float:
        """Return the highest value that may be drawn; a gap above it is left out."""
        return float(self.places[(self.levels >= self.levels[-1]).argmax()])

    def may_be(self, values: Numbers) -> NDArray[np.bool_]:
        """Return whether each value may be drawn or is an end of values that may, same shape."""
        before = np.maximum(np.searchsorted(self.places, values, side="left") - 1, 0)
        after = np.searchsorted(self.places, values, side="right")
        after = np.minimum(after, len(self.places) - 1)
        return np.asarray(self.levels[after] > self.levels[before])

    @cached_property
    def ironed(self) -> Distribution:
        """Return the distribution of the ironed virtual value.

        With levels u, the revenue curve is R(u) = (1 - u) Q(u), and the virtual value is -R'(u).
        The ironed one belongs to the concave hull of R. It is the isotonic regression of the
        virtual value, so adjacent pieces that fall are pooled until none does.
        """
        done, waiting = list[_Piece](), _pieces(self)[::-1]
        while waiting:
            piece = waiting.pop()
            if not done or done[-1].high <= piece.low:
                done.append(piece)
            else:
                left, flat, right = _pooled(done.pop(), piece)
                done += [each for each in (left,) if each.stop > each.start]
                waiting += [each for each in (right, flat) if each.stop > each.start]
        levels = [level for each in done for level in (each.start, each.stop)]
        places = [place for each in done for place in (each.low, each.high)]
        return Distribution(np.array(levels), np.array(places))


class _Piece(NamedTuple):
    """A virtual value that rises from ``low`` to ``high``, linear in the level.

    ``debt`` is the area of a jump to minus infinity, of a gap; its piece has no width.
    """

    start: float
    stop: float
    low: float
    high: float
    debt: float = 0.0

    def excess(self, height: float) -> float:
        """Return the area of the virtual value above a height, and above the piece's levels."""
        width, rise = self.stop - self.start, self.high - self.low
        if height <= self.low:
            return width * ((self.low + self.high) / 2.0 - height)
        return width * (self.high - height) ** 2 / (2.0 * rise) if height < self.high else 0.0

    def lack(self, height: float) -> float:
        """Return the area between the virtual value and a height above it."""
        mirrored = _Piece(self.start, self.stop, -self.high, -self.low)
        return self.debt if self.stop == self.start else mirrored.excess(-height)

    def level(self, height: float) -> float:
        """Return the level at which the virtual value has a height, or the end nearest to it."""
        if height <= self.low or height >= self.high:
            return self.start if height <= self.low else self.stop
        return self.start + (self.stop - self.start) * (height - self.low) / (self.high - self.low)


def _pieces(distribution: Distribution) -> list[_Piece]:
    """Return the virtual values between the knots; with slope s of Q it is Q(u) - (1 - u) s."""
    levels, places = distribution.levels.tolist(), distribution.places.tolist()
    found = list[_Piece]()
    for start, stop, low, high in zip(levels, levels[1:], places, places[1:], strict=False):
        if stop > start:
            slope = (high - low) / (stop - start)
            ends = (low - (1.0 - start) * slope, high - (1.0 - stop) * slope)
            found.append(_Piece(start, stop, *ends))
        elif high > low and 0.0 < start < 1.0:
            found.append(_Piece(start, start, -np.inf, -np.inf, (1.0 - start) * (high - low)))
    return found


def _pooled(left: _Piece, right: _Piece) -> tuple[_Piece, _Piece, _Piece]:
    """Return what is left below the pool, the pool, and what is left above it.

    The pool's height balances the area that it cuts off with the area that it fills.
    """
    lowest = left.low - right.debt / (left.stop - left.start)
    lowest = min(lowest, right.low) if right.debt == 0.0 else lowest
    height = float(
        optimize.brentq(lambda at: left.excess(at) - right.lack(at), lowest, left.high, xtol=1e-15)
    )
    start = left.level(height)
    stop = right.stop if right.debt else right.level(height)
    return (
        _Piece(left.start, start, left.low, height),
        _Piece(start, stop, height, height),
        _Piece(stop, right.stop, height, right.high),
    )


def _line(at: Numbers | float, places: Numbers, heights: Numbers) -> Numbers:
    """Return a function that is linear between knots; of knots at one place the last."""
    knot = np.clip(np.searchsorted(places, at, side="right") - 1, 0, len(places) - 1)
    return np.where(places[knot] == at, heights[knot], np.interp(at, places, heights))
