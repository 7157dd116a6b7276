"""Distributions of bidders' values, as data."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from daedalus.checks import Checked, above, one_of, within
from daedalus.market.literals import Family

FAMILIES = {
    "uniform": (),
    "exponential": ("mean",),
    "beta": ("alpha", "beta"),
    "mixture": ("parts",),
    "quantiles": ("quantiles",),
}
"""Families of distributions, and the parameters that each of them takes."""

MOST_KNOTS = 257
"""The most knots of a distribution."""

KNOTS = [("knots", np.int64), *((name, np.float64, MOST_KNOTS) for name in ("levels", "places"))]
"""Fields of a record that holds a distribution for the kernels; no knots are uniform values."""

_MOST_QUANTILES = MOST_KNOTS - 2
_EVEN = 128
_STEPS = 20_000


class Knots(NamedTuple):
    """A distribution function on [0, 1] that is linear between its knots.

    Attributes:
        levels: Its value at each knot, from 0 to 1, none below the one before, shape (K,).
        places: Where the knots are, from 0 to 1, none below the one before, shape (K,).
    """

    levels: NDArray[np.float64]
    places: NDArray[np.float64]

    def quantile(self, levels: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the quantiles at some levels in [0, 1], of the same shape."""
        highest = self.places[np.argmax(self.levels >= self.levels[-1])]
        return np.asarray(np.minimum(np.interp(levels, self.levels, self.places), highest))


@dataclass
class ValueDistribution(Checked):
    """The shape of values between the lowest, here 0, and the highest, here 1.

    Every family is kept as a distribution function that is linear between at most 257 knots. That
    is exact for ``uniform``, ``mixture`` and ``quantiles``. The distribution functions of the
    others are met at 257 knots, at most 1/128 apart in place and in level.

    Attributes:
        family: One of ``FAMILIES``.
        mean: Mean of an exponential distribution, before it is cut off at 1.
        alpha: First parameter of a beta distribution, 0.5 to 100.
        beta: Its second parameter, 0.5 to 100.
        parts: Weight, lower end and upper end of each uniform part of a mixture.
        quantiles: Evenly spaced quantiles of a table, the lowest value first, the highest last.

    Raises:
        ValueError: A parameter is missing or out of range, or belongs to another family.
    """

    family: Family = one_of(tuple(FAMILIES), "uniform")
    mean: float | None = above(0, None)
    alpha: float | None = within(0.5, 100, None)
    beta: float | None = within(0.5, 100, None)
    parts: list[list[float]] | None = None
    quantiles: list[float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        needed = FAMILIES[self.family]
        for each in fields(self)[1:]:
            given = getattr(self, each.name) is not None
            if given and each.name not in needed:
                takes = ", ".join(needed) or "no parameters"
                raise ValueError(f"{each.name}: family={self.family} takes {takes}; leave it out")
            if not given and each.name in needed:
                raise ValueError(f"{each.name}: family={self.family} needs it; give it a value")
        if self.parts is not None and not _are_parts(self.parts):
            raise ValueError(
                f"parts: {self.parts}; give [weight, low, high] for each part, at most "
                f"{_EVEN - 1} of them, with a weight above 0 and 0 <= low < high <= 1"
            )
        if self.quantiles is not None and not _are_quantiles(self.quantiles):
            raise ValueError(
                f"quantiles: {self.quantiles}; give from 2 to {_MOST_QUANTILES} numbers from 0 "
                "to 1, none below the one before, the last above the first"
            )

    @property
    def is_uniform(self) -> bool:
        """Return whether values are spread evenly."""
        return self.family == "uniform"

    def knots(self) -> Knots:
        """Return the distribution function."""
        return _KNOTS[self.family](self)


def write_knots(values: ValueDistribution | None, record: np.void) -> None:
    """Write a distribution into the fields ``KNOTS`` of a record. None is uniform."""
    if values is not None and not values.is_uniform:
        levels, places = values.knots()
        record["knots"] = len(levels)
        record["levels"][: len(levels)], record["places"][: len(places)] = levels, places


def _are_parts(parts: list[list[float]]) -> bool:
    fit = [
        len(each) == 3 and 0 < each[0] < np.inf and 0 <= each[1] < each[2] <= 1 for each in parts
    ]
    return 0 < len(fit) < _EVEN and all(fit)


def _are_quantiles(table: list[float]) -> bool:
    rises = all(low <= high for low, high in itertools.pairwise([0.0, *table, 1.0]))
    return 2 <= len(table) <= _MOST_QUANTILES and rises and table[0] < table[-1]


def _uniform(_: ValueDistribution) -> Knots:
    return Knots(np.array([0.0, 1.0]), np.array([0.0, 1.0]))


def _exponential(each: ValueDistribution) -> Knots:
    assert each.mean is not None
    mean, kept = each.mean, -np.expm1(-1.0 / each.mean)
    return _knots_of(
        lambda places: -np.expm1(-places / mean) / kept,
        lambda levels: -mean * np.log1p(-levels * kept),
    )


def _beta(each: ValueDistribution) -> Knots:
    """Integrate the density over the angle whose squared sine is the place: it has no poles."""
    assert each.alpha is not None
    assert each.beta is not None
    angles = np.linspace(0.0, np.pi / 2.0, _STEPS + 1)
    places, middles = np.sin(angles) ** 2, (angles[1:] + angles[:-1]) / 2.0
    logs = (2.0 * each.alpha - 1.0) * np.log(np.sin(middles))
    logs += (2.0 * each.beta - 1.0) * np.log(np.cos(middles))
    levels = np.concatenate([[0.0], np.cumsum(np.exp(logs - logs.max()))])
    levels /= levels[-1]
    return _knots_of(
        lambda at: np.interp(at, places, levels), lambda level: np.interp(level, levels, places)
    )


def _knots_of(
    below: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    quantile: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> Knots:
    """Return knots that are even in place and even in level, of a distribution function."""
    even = np.linspace(0.0, 1.0, _EVEN + 1)
    places = np.union1d(even, np.clip(quantile(even[1:-1]), 0.0, 1.0))
    levels = np.maximum.accumulate(np.clip(below(places), 0.0, 1.0))
    levels[0], levels[-1] = 0.0, 1.0
    return Knots(levels, places)


def _mixture(each: ValueDistribution) -> Knots:
    weights, lows, highs = np.array(each.parts, np.float64).T
    places = np.unique([[0.0, 1.0], *zip(lows, highs, strict=True)])
    shares = np.clip((places[:, None] - lows) / (highs - lows), 0.0, 1.0)
    return Knots(shares @ (weights / weights.sum()), places)


def _quantiles(each: ValueDistribution) -> Knots:
    assert each.quantiles is not None
    levels, places = np.linspace(0.0, 1.0, len(each.quantiles)).tolist(), each.quantiles
    below, above = [0.0] * (places[0] > 0.0), [1.0] * (places[-1] < 1.0)
    return Knots(np.array([*below, *levels, *above]), np.array([*below, *places, *above]))


_KNOTS: dict[str, Callable[[ValueDistribution], Knots]] = {
    "uniform": _uniform,
    "exponential": _exponential,
    "beta": _beta,
    "mixture": _mixture,
    "quantiles": _quantiles,
}
