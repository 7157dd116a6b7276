"""The estimate of a log: values by number of bidders and together, and its bootstrap samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from daedalus.bids.estimation import LEVELS, ascending_bounds, pooled, values_by_size
from daedalus.bids.levels import Levels, Regression, without_errors
from daedalus.bids.log import BidLog
from daedalus.bids.settings import ASCENDING, FIRST_PRICE, BidLogSettings

Numbers = NDArray[np.float64]

RESERVE, LEVEL, MONEY = "reserve", "level", "money"
"""What reserves are multiples of."""

_CLASSES = 10
"""Number of classes of sales, by their base."""


@dataclass(frozen=True)
class Estimate:
    """What a log says of its bidders. Values count in the level of their sale that bidders knew.

    A reserve is set as a multiple of a base: of the reserve in force if the log has reserves, of
    the level that covariates lead to expect if it has covariates alone, and else of the typical
    bid. Sales with similar bases form a class.

    Attributes:
        values: Quantiles of values at ``LEVELS``, rising, shape (K,).
        low: Quantiles that are at most those of values; ``values`` if the format tells them.
        high: Quantiles that are at least those of values; ``values`` if the format tells them.
        by_size: Quantiles by number of bidders; empty for ascending sales.
        shares: Share of the sales by number of bidders.
        bases: Base of each class of equally many sales, in levels, shape (C,).
        worth: Mean level of the sales of each class, in the money of the log, shape (C,).
        levels: Levels of the sales of the log.
    """

    values: Numbers
    low: Numbers
    high: Numbers
    by_size: dict[int, Numbers]
    shares: dict[int, float]
    bases: Numbers
    worth: Numbers
    levels: Levels

    @property
    def typical_bidders(self) -> int:
        """Return the mean number of bidders of a sale, rounded."""
        return round(sum(size * share for size, share in self.shares.items()))

    @property
    def money(self) -> float:
        """Return the mean level of a sale, in the money of the log."""
        return float(self.worth.mean())

    def with_values(self, values: Numbers) -> Estimate:
        """Return the same with other values, for a study of the assumptions."""
        return replace(self, values=values, low=values, high=values)


@dataclass(frozen=True)
class Estimator:
    """Estimates values from a log, or from a bootstrap sample of its sales.

    Attributes:
        log: The log, without its errors.
        settings: How values are estimated.
        regression: The regression of its bids.
    """

    log: BidLog
    settings: BidLogSettings
    regression: Regression

    @classmethod
    def of(cls, log: BidLog, settings: BidLogSettings) -> Estimator:
        """Return the estimator of a log."""
        clean = without_errors(log, settings.outliers)
        return cls(clean, settings, Regression.of(clean))

    @property
    def base(self) -> str:
        """Return what reserves are multiples of: ``RESERVE``, ``LEVEL`` or ``MONEY``."""
        if self.log.reserves is not None and (self.log.reserves > 0).all():
            return RESERVE
        return LEVEL if self.log.covariates.shape[1] else MONEY

    @property
    def unit(self) -> float:
        """Return what a multiple of 1 is called in reports: 1, or the typical bid in money."""
        return float(np.exp(np.log(self.log.bids).mean())) if self.base == MONEY else 1.0

    def estimate(self, weights: Numbers | None = None, more_rivals: int = 0) -> Estimate:
        """Estimate values.

        Args:
            weights: How often each sale counts, shape (A,); None is once each.
            more_rivals: How many rivals more than came the bidders of a first-price sale expected,
                or fewer, but at least one.
        """
        log, settings = self.log, self.settings
        weights = np.ones(len(log.sales)) if weights is None else weights
        levels = self.regression.fit(weights, settings.removes_common_part)
        relative = log.bids / levels.known[log.sale]
        by_size: dict[int, Numbers] = {}
        if settings.format == ASCENDING:
            low, high = ascending_bounds(
                relative, log.sale, log.bidders, weights, settings.increment
            )
            values = (low + high) / 2.0
        else:
            by_size, values = self._sealed(relative, weights[log.sale], more_rivals)
            low = high = values
        sales = np.bincount(log.bidders, weights)
        shares = {int(n): float(sales[n] / sales.sum()) for n in np.flatnonzero(sales)}
        bases, worth = self._classes(levels, weights)
        return Estimate(values, low, high, by_size, shares, bases, worth, levels)

    def _sealed(
        self, relative: Numbers, weights: Numbers, more: int
    ) -> tuple[dict[int, Numbers], Numbers]:
        """Return the quantiles of values by number of bidders, and together.

        Together they are weighted by the inverse of their variance: where many bid, bids are near
        to values.
        """
        log, settings, drawn = self.log, self.settings, weights > 0
        sizes = log.bidders[log.sale[drawn]]
        found = values_by_size(
            relative[drawn], weights[drawn], sizes, settings.format, settings.bandwidth, more
        )
        counts = np.bincount(sizes, weights[drawn])
        first = settings.format == FIRST_PRICE
        return found, pooled(found, {n: counts[n] * (n - 1.0) ** (2 * first) for n in found})

    def bootstrap(self, rng: np.random.Generator) -> Iterator[Estimate]:
        """Yield the estimates of samples of sales, each drawn with repetition."""
        count = len(self.log.sales)
        for _ in tqdm(range(self.settings.resamples), "bootstrap", leave=False, disable=None):
            drawn = rng.integers(count, size=count)
            yield self.estimate(np.bincount(drawn, minlength=count).astype(np.float64))

    def _classes(self, levels: Levels, weights: Numbers) -> tuple[Numbers, Numbers]:
        """Return the base of each class of sales in levels, and its mean level in money."""
        if self.base == RESERVE:
            assert self.log.reserves is not None
            money = self.log.reserves
        else:
            money = levels.shown if self.base == LEVEL else np.full(len(levels.shown), self.unit)
        relative = money / levels.known
        order = np.argsort(relative)
        counts = weights[order]
        middles = (np.cumsum(counts) - counts / 2.0) / counts.sum()
        place = np.minimum(_CLASSES * middles, _CLASSES - 1).astype(np.int64)
        sums = np.bincount(place, counts, _CLASSES)
        bases = np.bincount(place, counts * relative[order], _CLASSES) / sums
        return bases, np.bincount(place, counts * levels.known[order], _CLASSES) / sums


def revenue_curve(values: Numbers, shares: dict[int, float]) -> Numbers:
    """Return the revenue of a sale at each reserve of a table of quantiles, shape (K,).

    It is that of a second-price sale, and in equilibrium of a first-price sale too (Myerson 1981):
    the reserve if one bidder reaches it, and the second value if two do.

    Args:
        values: Quantiles of values at ``LEVELS``, which are the reserves too.
        shares: Share of the sales by number of bidders.
    """
    total = np.zeros(len(values))
    for size, share in shares.items():
        second = size * LEVELS ** (size - 1) - (size - 1) * LEVELS**size
        parts = np.diff(second) * (values[1:] + values[:-1]) / 2.0
        above = np.concatenate([np.cumsum(parts[::-1])[::-1], [0.0]])
        alone = size * (1.0 - LEVELS) * LEVELS ** (size - 1)
        total += share * (above + values * alone)
    return total


def money_at(estimate: Estimate, multiples: Numbers) -> Numbers:
    """Return the mean revenue of a sale in the money of the log, by ``revenue_curve``.

    Args:
        estimate: Values, numbers of bidders and classes of sales.
        multiples: Reserves of M policies, as multiples of the base, shape (M,).
    """
    curve = revenue_curve(estimate.values, estimate.shares)
    return over_classes(estimate.bases, estimate.worth, multiples, estimate.values, curve)


def over_classes(
    bases: Numbers, worth: Numbers, multiples: Numbers, reserves: Numbers, curve: Numbers
) -> Numbers:
    """Return what a sale earns on average over the classes, shape (M,).

    Args:
        bases: Base of each class, in levels, shape (C,).
        worth: What a sale of each class is worth, compared with one of level 1, shape (C,).
        multiples: Reserves of M policies, as multiples of the base, shape (M,).
        reserves: Reserves in levels, rising, shape (R,).
        curve: What a sale of level 1 earns at each of them, shape (R,).
    """
    earned = np.interp(np.multiply.outer(multiples, bases), reserves, curve)
    return np.asarray(earned @ worth / len(worth))


def best_multiple(estimate: Estimate, multiples: Numbers) -> float:
    """Return the multiple of highest revenue among some."""
    return float(multiples[np.argmax(money_at(estimate, multiples))])
