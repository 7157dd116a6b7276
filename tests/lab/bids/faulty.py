"""Logs whose assumptions fail, and in which way; helpers for tests, not a test."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm

from daedalus.lab.theory.distributions import Numbers
from tests.lab.bids.simulated import GRID, equilibrium, first_price_bids, table_of, uniform


def ring_bids(sales: int, rng: np.random.Generator) -> Numbers:
    """Return bids of three members of a ring and then of an outsider, shape (sales, 4).

    The member of the highest value bids as against the outsider alone. The others bid 70 to 95 % of
    that, to look like rivals.
    """
    values = rng.random((sales, 4))
    against_one = equilibrium(uniform, 2)
    bids = np.interp(values[:, :3], GRID, against_one).max(axis=1, keepdims=True)
    cover = np.where(
        values[:, :3] == values[:, :3].max(axis=1, keepdims=True),
        1.0,
        rng.uniform(0.7, 0.95, (sales, 3)),
    )
    return np.hstack([bids * cover, np.interp(values[:, 3:], GRID, against_one)])


def common_value_bids(bidders: int, sales: int, rng: np.random.Generator) -> Numbers:
    """Return equilibrium bids for a value that is the same for all, shape (sales, bidders).

    The value's logarithm is spread evenly over the line, and signals are the value times a
    lognormal error. So the equilibrium bid is a factor k of the signal, from the first-order
    condition of a bidder who thinks of another factor.
    """
    levels = (np.arange(20_000) + 0.5) / 20_000
    error = np.exp(0.4 * norm.ppf(levels))
    density = norm.pdf(norm.ppf(levels)) / (0.4 * error)
    more = (bidders - 1) * levels ** (bidders - 2) * density
    factor = more.mean() / (1.0 / bidders + (more * error).mean())
    value = np.exp(0.3 * rng.normal(size=(sales, 1)))
    return factor * value * np.exp(0.4 * rng.normal(size=(sales, bidders)))


def shared_bids(bidders: int, sales: int, spread: float, rng: np.random.Generator) -> Numbers:
    """Return bids of even values times something that all bidders of a sale know."""
    bids = first_price_bids(uniform, bidders, sales, rng)
    return bids * np.exp(spread * rng.normal(size=(sales, 1)))


def strong_table(sales: int, factor: float, rng: np.random.Generator) -> pd.DataFrame:
    """Return sales with three of six bidders, of whom A and B bid more by a factor."""
    names = np.array([rng.permutation(list("ABCDEF"))[:3] for _ in range(sales)])
    bids = first_price_bids(uniform, 3, sales, rng) * np.where(names < "C", factor, 1.0)
    return named(bids, names)


def named(bids: Numbers, names: NDArray[np.str_]) -> pd.DataFrame:
    """Return a row for each bid, with its bidder."""
    return table_of(list(bids)).assign(bidder=names.ravel())
