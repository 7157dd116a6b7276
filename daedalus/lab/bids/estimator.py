"""The estimate of a log: values by number of bidders and together, and its bootstrap samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from tqdm import tqdm

from daedalus.lab.bids.deconvolution import Deconvolution
from daedalus.lab.bids.levels import CONSTANT, Levels, Regression, with_enough_sales, without_errors
from daedalus.lab.bids.likelihood import SealedBids
from daedalus.lab.bids.log import BidLog, of_common_sizes
from daedalus.lab.bids.potential import Potential, excludes, potential_of
from daedalus.lab.bids.rounding import COARSE, half_steps, spread
from daedalus.lab.bids.settings import ASCENDING, FIRST_PRICE, BidLogSettings
from daedalus.lab.bids.value_quantiles import (
    LEVELS,
    Tables,
    ascending_tables,
    classes_of,
    excluded_tables,
    quantiles_of,
    sealed_tables,
)
from daedalus.lab.theory.distributions import Distribution, Numbers
from daedalus.lab.theory.sales import Bidder, expected_revenue

RESERVE, LEVEL, MONEY = "reserve", "level", "money"
"""What reserves are multiples of."""

_SURE = 0.05  # chance of what bids of a sale have in common, from which they have nothing
_UNEVEN = 0.05  # deviation of log reserves over levels from which they exclude different shares
_EVERY = 5  # levels of a table where theory plays each reserve
PER_DEVIATION = 1.349  # quartiles of a normal distribution


@dataclass(frozen=True)
class Estimate(Tables):
    """What a log says of its bidders.

    A reserve is set as a multiple of a base: of the reserve in force if the log has reserves, of
    the level that covariates lead to expect if it has covariates alone, and else of the typical
    bid. Sales with similar bases form a class.

    Attributes:
        shares: Share of the sales by number of bidders.
        bases: Base of each class of equally many sales, in levels, shape (C,).
        worth: Mean level of the sales of each class, in the money of the log, shape (C,).
        levels: Levels of the sales of the log.
        potential: Who could have come, if the reserve kept bidders away.
    """

    shares: dict[int, float]
    bases: Numbers
    worth: Numbers
    levels: Levels
    potential: Potential | None

    @property
    def typical_bidders(self) -> int:
        """Return the mean number of bidders of a sale, rounded."""
        return round(sum(size * share for size, share in self.shares.items()))

    def of_bidders(self, quantiles: Numbers) -> Numbers:
        """Return quantiles of the values of bidders whom the reserve did not keep away."""
        if self.potential is None:
            return quantiles
        excluded = self.potential.excluded
        return np.interp(excluded + (1.0 - excluded) * LEVELS, LEVELS, quantiles)

    @property
    def all_bids(self) -> Numbers:
        """Return quantiles of the bids of all sales, without what bids of a sale share."""
        weights = [np.full(len(LEVELS), self.shares[size] * size) for size in self.bids]
        return quantiles_of(np.concatenate(list(self.bids.values())), np.concatenate(weights))

    @property
    def money(self) -> float:
        """Return the mean level of a sale, in the money of the log."""
        return float(self.worth.mean())

    def with_values(self, values: Numbers) -> Estimate:
        """Return the same with other values."""
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
        """Return the estimator of a log.

        Sales with a rare number of bids count only if all bids are those of potential bidders.
        """
        clean = without_errors(log, settings)
        if not cls(clean, settings, Regression.of(clean)).potential:
            clean = of_common_sizes(clean)
        regression = Regression.of(clean)
        return cls(with_enough_sales(regression), settings, regression)

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

    @cached_property
    def _levels(self) -> Levels:
        """Return the levels that covariates alone lead to expect, by all sales."""
        return self.regression.fit(np.ones(len(self.log.sales)), False)

    @cached_property
    def potential(self) -> Potential | None:
        """Return who could have come, if the reserve kept bidders away.

        It must be the same multiple of all levels, so that it excludes the same share of values.
        """
        given = self.settings.potential_bidders
        found = self.log.potential(given)
        return found if given is not None or not self.is_uneven else None

    @cached_property
    def is_uneven(self) -> bool:
        """Return whether reserves are different multiples of the levels of their sales."""
        reserves = self.log.reserves
        if reserves is None or (reserves == 0).any():
            return False
        return float(np.log(reserves / self._levels.observable).std()) > _UNEVEN

    @cached_property
    def half_steps(self) -> Numbers:
        """Return half the step of each bid in its money, shape (L,); 0 if it is too fine to matter.

        Ascending bids are left as they are: their bounds hold for rounded bids, but for a step.
        """
        log = self.log
        half = half_steps(log.bids)
        relative = np.log(log.bids / self._levels.observable[log.sale])
        low, high = np.quantile(relative, [0.25, 0.75])
        coarse = np.median(2.0 * half / log.bids) * PER_DEVIATION >= COARSE * (high - low)
        return half if coarse and self.settings.format != ASCENDING else np.zeros(len(half))

    @property
    def lacks_rivals(self) -> bool:
        """Return whether the reserve kept bidders away and the log does not tell how many."""
        log = self.log
        return (
            self.settings.format == FIRST_PRICE
            and self.base == RESERVE
            and self.potential is None
            and log.reserves is not None
            and excludes(log.bids, log.reserves[log.sale])
        )

    @property
    def can_separate(self) -> bool:
        """Return whether what bids of a sale have in common can be taken out of them.

        In a log that is like independent bids there is nothing to separate. An ascending format
        makes bids alike by itself. Nothing is separated where the log tells how many a reserve kept
        away, and a check fails if there was something. Where it does not tell, another check does.
        """
        if self.settings.format == ASCENDING or self.potential:
            return False
        return self._levels.chance < _SURE

    @cached_property
    def parts(self) -> Deconvolution | None:
        """Return private values apart from what bids of a sale have in common, if they have."""
        separates = self.settings.removes_common_part and self.can_separate
        return self._separated(0) if separates else None

    def estimate(self, weights: Numbers | None = None, more_rivals: int = 0) -> Estimate:
        """Estimate values.

        Args:
            weights: How often each sale counts, shape (A,); None is once each.
            more_rivals: How many rivals more than came the bidders of a first-price sale expected,
                or fewer, but at least one.
        """
        log, settings = self.log, self.settings
        counts = np.ones(len(log.sales)) if weights is None else weights
        shrunk = settings.removes_common_part and settings.format == ASCENDING
        levels = self.regression.fit(counts, shrunk)
        sales = np.bincount(log.bidders, counts)
        shares = {int(n): float(sales[n] / sales.sum()) for n in np.flatnonzero(sales)}
        potential = None
        if self.potential and settings.format != ASCENDING:
            potential = potential_of(log.bidders, counts, self.potential.bidders)
            shares = {potential.bidders: 1.0}
        bases = self.bases(levels)
        tables = self._tables(levels, weights, potential, more_rivals)
        classes = classes_of(bases, np.multiply.outer(levels.total, tables.common), counts)
        return Estimate(
            **vars(tables),
            shares=shares,
            bases=classes[0],
            worth=classes[1],
            levels=levels,
            potential=potential,
        )

    def bases(self, levels: Levels) -> Numbers:
        """Return what reserves are multiples of in each sale, in money, shape (A,)."""
        if self.base == RESERVE:
            assert self.log.reserves is not None
            return self.log.reserves
        return (
            levels.observable if self.base == LEVEL else np.full(len(levels.observable), self.unit)
        )

    def _tables(
        self, levels: Levels, weights: Numbers | None, potential: Potential | None, more: int
    ) -> Tables:
        """Return what bids tell, by the way that the format and the log ask for."""
        log, settings = self.log, self.settings
        kind, smooth = settings.format, settings.bandwidth
        counts = np.ones(len(log.sales)) if weights is None else weights
        of_bids, bids = counts[log.sale], self._relative(levels)
        if kind == ASCENDING:
            return ascending_tables(bids, log.sale, log.bidders, counts, settings.increment)
        if potential:
            assert log.reserves is not None
            reserve = float(np.average(log.reserves / levels.observable, weights=counts))
            return excluded_tables(bids, of_bids, potential, reserve, kind, smooth, more)
        if self.parts:
            parts = self._separated(more) if more else self.parts
            return parts.tables(weights, apart=not more)  # other rivals take all sizes together
        drawn = of_bids > 0
        bids, of_bids, sizes = bids[drawn], of_bids[drawn], log.bidders[log.sale[drawn]]
        return sealed_tables(bids, of_bids, sizes, kind, smooth, more)

    def _relative(self, levels: Levels) -> Numbers:
        """Return the bids in levels; rounded ones are spread over their steps."""
        bids, half = self.log.bids, self.half_steps
        return (spread(bids, half) if half.any() else bids) / levels.total[self.log.sale]

    def _separated(self, more: int) -> Deconvolution:
        log, levels, half = self.log, self._levels, self.half_steps
        part = np.log(levels.observable) - levels.slopes[CONSTANT]
        low, high = np.log(log.bids - half), np.log(log.bids + half)
        middle = (low + high) / 2.0 - part[log.sale]
        bids = SealedBids(middle, (high - low) / 2.0, log.bidders)
        first = self.settings.format == FIRST_PRICE
        return Deconvolution.of(bids, first, more, self.settings.bandwidth)

    def bootstrap(self, rng: np.random.Generator) -> Iterator[Estimate]:
        """Yield the estimates of samples of sales, each drawn with repetition."""
        count = len(self.log.sales)
        for _ in tqdm(range(self.settings.resamples), "bootstrap", leave=False, disable=None):
            drawn = rng.integers(count, size=count)
            yield self.estimate(np.bincount(drawn, minlength=count).astype(np.float64))


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


def money_with_stronger(estimate: Estimate, multiples: Numbers, factor: float) -> Numbers:
    """Return the mean second-price revenue if one bidder of each sale is stronger, shape (M,).

    Args:
        estimate: Values, numbers of bidders and classes of sales.
        multiples: Reserves of M policies, as multiples of the base, shape (M,).
        factor: Values of that bidder over those of the others.
    """
    grid = estimate.values[::_EVERY]
    others = Bidder(Distribution(LEVELS[::_EVERY], grid))
    strong = Bidder(Distribution(LEVELS[::_EVERY], factor * grid))
    curve = np.zeros(len(grid) + 1)
    reserves = np.concatenate([[0.0], grid])
    for size, share in estimate.shares.items():
        bidders = [strong, *[others] * (size - 1)]
        curve += share * np.array([expected_revenue(bidders, each) for each in reserves])
    return over_classes(estimate.bases, estimate.worth, multiples, reserves, curve)


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
