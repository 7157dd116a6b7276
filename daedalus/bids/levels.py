"""What was sold, taken out of bids by regression: each sale gets a level, and bids count in it.

Values are taken to be the sale's level times a private part whose distribution is the same in all
sales, so equilibrium bids are the level times what they would be at level 1 (Haile, Hong & Shum
2003). What bids of a sale have in common beyond the covariates is part of its level, because its
bidders knew it (Krasnokutskaya 2011, whose deconvolution this replaces by second moments). Numbers
of bidders enter the regression, so that covariates do not explain how bids depend on rivals, and
stay in the bids.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from daedalus.bids.log import BidLog

Numbers = NDArray[np.float64]

_FEWEST = 10
"""Categories with fewer sales share one dummy."""


@dataclass(frozen=True)
class Levels:
    """The level of each sale: the bid that is to be expected of what is sold.

    Attributes:
        shown: What covariates lead to expect, in the money of the log, shape (A,).
        known: The same with what the bids of the sale have in common, which its bidders knew.
        common: Share of the variance of log bids around ``shown`` that bids of a sale have in
            common, from 0 to 1.
        slopes: ``constant`` and the coefficients of the columns of ``design_of``, by name: of a
            category without its first word. ``shown`` is exp of their sum.
        explained: Share of the variance of log bids that covariates and numbers of bidders explain.
    """

    shown: Numbers
    known: Numbers
    common: float
    slopes: pd.Series[float]
    explained: float


@dataclass(frozen=True)
class Regression:
    """The design of the regression of log bids, computed once for all bootstrap samples.

    Attributes:
        design: Columns of the covariates, shape (A, P), and then one for each number of bidders.
        names: Names of the P columns.
        log: The log of bids.
    """

    design: Numbers
    names: tuple[str, ...]
    log: BidLog

    @classmethod
    def of(cls, log: BidLog) -> Regression:
        """Return the regression of a log."""
        columns = design_of(log)
        sizes = np.unique(log.bidders)
        dummies = (log.bidders[:, None] == sizes).astype(np.float64)
        return cls(np.hstack([columns.to_numpy(), dummies]), tuple(columns.columns), log)

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
        shown = np.exp(constant + part)
        spread = weights[log.sale] @ (of_bids - mean) ** 2
        left = weights[log.sale] @ (of_bids - fitted[log.sale]) ** 2
        named = pd.Series([constant, *slopes[: len(self.names)]], ["constant", *self.names])
        around, common = _common_part(of_bids - fitted[log.sale], log, weights)
        known = shown * np.exp(around) if common_part else shown
        return Levels(shown, known, common, named, float(1.0 - left / spread))


def _common_part(left: Numbers, log: BidLog, weights: Numbers) -> tuple[Numbers, float]:
    """Return what is common to the bids of each sale in logarithms, and its share of the variance.

    Without it, the bids of a sale are not correlated. If a is the variance of the common part and u
    that of the rest, this takes 1 - sqrt((u/n) / (a + u/n)) of the mean of n bids.
    """
    sizes, counts = log.bidders, weights * log.bidders
    means = np.bincount(log.sale, left) / sizes
    squares = np.bincount(log.sale, (left - means[log.sale]) ** 2)
    own = float(weights @ squares / (counts - weights).sum())
    common = max(float(counts @ means**2 / counts.sum() - weights.sum() * own / counts.sum()), 0.0)
    return means * (1.0 - np.sqrt(own / (own + sizes * common))), common / (common + own)


def design_of(log: BidLog) -> pd.DataFrame:
    """Return the covariates as numbers, a row for each sale.

    Positive numbers are in logarithms, other numbers as they are, and words are dummies. The
    reserve in force is a covariate too, if every sale has one above 0.
    """
    names = list(log.covariates)
    if log.reserves is not None and (log.reserves > 0).all():
        names = ["reserve", *names]
    parts = [_columns(log.sales[name], name) for name in names]
    return pd.concat([pd.DataFrame(index=log.sales.index), *parts], axis=1)


def _columns(values: pd.Series[float], name: str) -> pd.DataFrame:
    if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
        if (values > 0).all():
            return pd.DataFrame({f"log {name}": np.log(values)})
        return pd.DataFrame({name: values})
    words = values.astype(str)
    counts = words.value_counts()
    rare = counts.index[counts < _FEWEST]
    words = words.where(~words.isin(rare), "others")
    return pd.get_dummies(words, prefix=name, prefix_sep=" ", dtype=float).iloc[:, 1:]


def without_errors(log: BidLog, deviations: float | None) -> BidLog:
    """Return a log without sales that have a bid far above what is usual.

    Args:
        log: The log.
        deviations: How many robust deviations are too many; None keeps all.
    """
    if deviations is None:
        return log
    level = Regression.of(log).fit(np.ones(len(log.sales)), False).shown
    relative = np.log(log.bids / level[log.sale])
    middle = np.median(relative)
    robust = 1.4826 * np.median(abs(relative - middle))
    wrong = np.bincount(log.sale, relative - middle > deviations * robust, len(level)) > 0
    return log.keep(
        ~wrong,
        "{} sales are left out because a bid is far above all that is usual, as an error of the "
        "log would be.",
    )
