"""What was sold, taken out of bids by regression: each sale gets a level, and bids count in it.

Values are taken to be the sale's level times a private part whose distribution is the same in all
sales, so equilibrium bids are the level times what they would be at level 1 (Haile, Hong & Shum
2003). What bids of a sale have in common beyond the covariates is separated by ``deconvolution``;
here it is only measured. Numbers of bidders enter the regression, so that covariates do not explain
how bids depend on rivals, and stay in the bids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from daedalus.checks import CannotRunError
from daedalus.lab.bids.covariates import FEWEST
from daedalus.lab.bids.log import BidLog, usable
from daedalus.lab.bids.settings import BidLogSettings
from daedalus.lab.bids.text_table import DOUBT, Note
from daedalus.lab.theory.distributions import Numbers

CONSTANT, RESERVE = "constant", "reserve"

_ERRORS = 0.05  # share of the sales up to which those that are far off are errors
_MANY_COLUMNS, _MOST_COLUMNS = 0.2, 0.5  # for a sale: more are a doubt, or are refused
_LEAST_SPREAD = 0.2  # of logarithms of bids
_CONSTANT = 1e-12  # deviation over the mean of what varies by rounding alone
_LOST = (
    "{} left out: a bid, or all of them, are far above or below what is usual, as an error of the "
    "log would be."
)


@dataclass(frozen=True)
class Levels:
    """The level of each sale: the bid that is to be expected of what is sold.

    Attributes:
        observable: What covariates lead to expect, in the money of the log, shape (A,).
        total: The same with what the bids of the sale have in common, which its bidders knew.
        common: Share of the variance of log bids around ``observable`` that bids of a sale have in
            common, from 0 to 1.
        chance: Probability of such a share, or a larger one, if bids have nothing in common.
        slopes: ``constant`` and the coefficients of the columns of ``design_of``, by name: of a
            category without its first word. ``observable`` is exp of their sum.
        explained: Share of the variance of log bids that covariates and numbers of bidders explain.
    """

    observable: Numbers
    total: Numbers
    common: float
    chance: float
    slopes: pd.Series[float]
    explained: float


@dataclass(frozen=True)
class Regression:
    """The design of the regression of log bids, computed once for all bootstrap samples.

    Attributes:
        design: Columns of the covariates less their centres, in their scales, shape (A, P), and
            then one for each number of bidders.
        names: Names of the P columns.
        log: The log of bids.
        centres: Mean of each of the P columns.
        scales: Its deviation; 1 if it does not vary.
    """

    design: Numbers
    names: tuple[str, ...]
    log: BidLog
    centres: Numbers
    scales: Numbers

    @classmethod
    def of(cls, log: BidLog) -> Regression:
        """Return the regression of a log."""
        columns = design_of(log)
        numbers = columns.to_numpy(np.float64)
        centres, scales = numbers.mean(axis=0), numbers.std(axis=0)
        scales[scales <= _CONSTANT * abs(centres)] = 1.0
        dummies = (log.bidders[:, None] == np.unique(log.bidders)).astype(np.float64)
        design = np.hstack([(numbers - centres) / scales, dummies])
        return cls(design, tuple(columns.columns), log, centres, scales)

    def fit(self, weights: Numbers, common_part: bool) -> Levels:
        """Return the levels, by least squares over bids.

        Args:
            weights: How often each sale counts, shape (A,).
            common_part: Whether the sale's bidders are taken to know what its bids have in common.
        """
        log, design = self.log, self.design
        of_bids = np.log(log.bids)
        sums = np.bincount(log.sale, of_bids, len(design))
        counts = weights * log.bidders
        gram = design.T @ (counts[:, None] * design)
        slopes = np.linalg.pinv(gram, hermitian=True) @ (design.T @ (weights * sums))
        covariates, fitted = design[:, : len(self.names)], design @ slopes
        mean = (weights @ sums) / counts.sum()
        part = covariates @ slopes[: len(self.names)]
        constant = mean - (counts @ part) / counts.sum()
        observable = np.exp(constant + part)
        spread = weights[log.sale] @ (of_bids - mean) ** 2
        left = weights[log.sale] @ (of_bids - fitted[log.sale]) ** 2
        own = slopes[: len(self.names)] / self.scales
        named = pd.Series([constant - self.centres @ own, *own], [CONSTANT, *self.names])
        around, common, chance = _common_part(of_bids - fitted[log.sale], log, weights, design)
        total = observable * np.exp(around) if common_part else observable
        return Levels(observable, total, common, chance, named, float(1.0 - left / spread))


def _common_part(
    left: Numbers, log: BidLog, weights: Numbers, design: Numbers
) -> tuple[Numbers, float, float]:
    """Return what is common to the bids of each sale in logarithms, its share, and its chance.

    Without it, the bids of a sale are not correlated. If a is the variance of the common part and u
    that of the rest, this takes 1 - sqrt((u/n) / (a + u/n)) of the mean of n bids. The chance is
    that of the F statistic of a one-way layout, which many sales of few bids make robust.
    """
    sizes, counts = log.bidders, weights * log.bidders
    means = np.bincount(log.sale, left) / sizes
    squares = np.bincount(log.sale, (left - means[log.sale]) ** 2)
    within = float((counts - weights).sum())
    own = float(weights @ squares / within)
    common = max(float(counts @ means**2 / counts.sum() - weights.sum() * own / counts.sum()), 0.0)
    between = max(float(weights.sum()) - design.shape[1], 1.0)
    ratio = float(counts @ means**2) / between / own
    chance = float(stats.f.sf(ratio, between, within))
    around = means * (1.0 - np.sqrt(own / (own + sizes * common)))
    return around, common / (common + own), chance


def design_of(log: BidLog) -> pd.DataFrame:
    """Return the covariates as numbers, a row for each sale.

    Positive numbers are in logarithms, other numbers as they are, and words are dummies. The
    reserve in force is a covariate too, if every sale has one above 0.
    """
    parts = [_columns(log.covariates[name], str(name)) for name in log.covariates]
    if log.reserves is not None and (log.reserves > 0).all():
        parts = [pd.DataFrame({f"log {RESERVE}": np.log(log.reserves)}), *parts]
    design = pd.concat([pd.DataFrame(index=log.sales.index), *parts], axis=1)
    return design.set_axis(_different([str(name) for name in design]), axis=1)


def _different(names: Sequence[str]) -> list[str]:
    """Return names of which no two are alike, and none is that of the constant."""
    taken = [CONSTANT]
    for name in names:
        while name in taken:
            name += " (column)"
        taken.append(name)
    return taken[1:]


def _columns(values: pd.Series[float], name: str) -> pd.DataFrame:
    if pd.api.types.is_numeric_dtype(values):
        if (values > 0).all():
            return pd.DataFrame({f"log {name}": np.log(values)})
        return pd.DataFrame({name: values})
    return pd.get_dummies(_words(values), prefix=name, prefix_sep=" ", dtype=float).iloc[:, 1:]


def _words(values: pd.Series[float]) -> pd.Series[str]:
    """Return the words of a category, of which rare ones are one."""
    words = values.astype(str)
    counts = words.value_counts()
    rare = counts.index[counts < FEWEST]
    others = "others" if "others" not in counts.index.difference(rare) else "others, rare"
    return words.where(~words.isin(rare), others)


def first_words(log: BidLog) -> dict[str, str]:
    """Return the first word of each category by its name: it has no column in the design."""
    return {
        str(name): str(min(_words(log.covariates[name])))
        for name in log.covariates
        if not pd.api.types.is_numeric_dtype(log.covariates[name])
    }


def without_errors(log: BidLog, settings: BidLogSettings) -> BidLog:
    """Return a log without sales that look like errors: far above what is usual, or far below.

    Errors are rare. If more than a twentieth of the sales look like some, none is left out, and a
    note says so.
    """
    deviations = settings.outliers
    if deviations is None:
        return log
    level = Regression.of(log).fit(np.ones(len(log.sales)), False).observable
    relative = np.log(log.bids / level[log.sale])
    means = np.bincount(log.sale, relative) / log.bidders
    away, of_sales = _deviations(relative), _deviations(means)
    high = np.bincount(log.sale, away > deviations, len(level)) > 0
    wrong = high | (abs(of_sales) > deviations)
    if wrong.mean() > _ERRORS:
        why = (
            f"{int(wrong.sum()):,} sales are far above or below what is usual. They are too many "
            "to be errors of the log, so they were kept."
        )
        return replace(log, notes=(*log.notes, Note(DOUBT, why)))
    return usable(log.keep(~wrong, _LOST), settings)


def with_enough_sales(regression: Regression) -> BidLog:
    """Return the log of a regression; a note tells if its sales are few for so many columns.

    Raises:
        CannotRunError: They are too few: columns would explain what is chance.
    """
    log, (sales, columns) = regression.log, regression.design.shape
    told = f"{columns} columns for {sales:,} sales"
    fewer = "name the columns that matter most with bid_log.covariates"
    if columns > _MOST_COLUMNS * sales:
        raise CannotRunError(f"bids: {told}, with numbers of bidders and each word; {fewer}")
    if columns <= _MANY_COLUMNS * sales:
        return log
    why = f"{told}, so they explain a part of what is chance; {fewer}."
    return replace(log, notes=(*log.notes, Note(DOUBT, why)))


def _deviations(numbers: Numbers) -> Numbers:
    """Return how far numbers lie from their median, in robust deviations.

    Bids have a longer tail below than above, so those below count in deviations of their own side.
    A deviation is at least a fifth: where most bids are alike, others are no errors.
    """
    away = numbers - np.median(numbers)
    sides = (abs(away), -away[away <= 0.0])
    usual, below = (max(1.4826 * float(np.median(side)), _LEAST_SPREAD) for side in sides)
    return np.where(away > 0.0, away / usual, away / below)
