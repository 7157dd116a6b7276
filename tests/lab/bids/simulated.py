"""Logs of bids whose values are known; helpers for tests, not a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pandas as pd

from daedalus.lab.bids.estimator import Estimate, Estimator, money_at
from daedalus.lab.bids.log import BidLog, bid_log
from daedalus.lab.bids.settings import BidLogSettings
from daedalus.lab.theory.distributions import Numbers

Quantile = Callable[[Numbers], Numbers]

GRID = np.linspace(0.0, 1.0, 20_001)


def uniform(levels: Numbers) -> Numbers:
    return levels


@cache
def equilibrium(quantile: Quantile, bidders: int) -> Numbers:
    """Return first-price bids at the levels of a grid, by the trapezoid rule."""
    values, wins = quantile(GRID.clip(1e-9, 1 - 1e-6)), GRID ** (bidders - 1)
    rent = np.concatenate([[0.0], np.cumsum((wins[1:] + wins[:-1]) / 2 * np.diff(values))])
    return values - np.divide(rent, wins, out=np.zeros_like(rent), where=wins > 0)


def first_price_bids(
    quantile: Quantile, bidders: int, sales: int, rng: np.random.Generator
) -> Numbers:
    """Return equilibrium bids of independent values, shape (sales, bidders)."""
    levels = rng.random((sales, bidders)).clip(1e-4)
    return np.interp(levels, GRID, equilibrium(quantile, bidders))


def table_of(bids: Sequence[Numbers], **columns: Sequence[Sequence[object]]) -> pd.DataFrame:
    """Return a row for each bid of each sale, with columns that each sale has one value of."""
    rows = []
    for number, sale in enumerate(bids):
        shared = {name: values[number] for name, values in columns.items()}
        rows += [{"auction": f"A{number:05d}", "bid": float(bid), **shared} for bid in sale]
    return pd.DataFrame(rows)


def uniform_table(sales: int, sizes: Sequence[int] = (2, 3), seed: int = 0) -> pd.DataFrame:
    """Return first-price bids of values from 0 to 1, the same number of sales of each size."""
    rng = np.random.default_rng(seed)
    bids = [
        row for size in sizes for row in first_price_bids(uniform, size, sales // len(sizes), rng)
    ]
    return table_of(bids)


def log_of_table(table: pd.DataFrame, **settings: object) -> BidLog:
    """Return the log of a table."""
    return bid_log(table, BidLogSettings(**settings), "log")  # type: ignore[arg-type]


def estimator_of_table(table: pd.DataFrame, **settings: object) -> Estimator:
    """Return the estimator of the log of a table."""
    chosen = BidLogSettings(**settings)  # type: ignore[arg-type]
    return Estimator.of(bid_log(table, chosen, "log"), chosen)


def clock_bids(values: Numbers) -> Numbers:
    """Return the last bids in a clock: all stop at their value, the winner with the second."""
    bids = np.sort(values, axis=1)
    bids[:, -1] = bids[:, -2]
    return bids


def best_multiple(estimate: Estimate, multiples: Numbers) -> float:
    """Return the multiple of the base that brings most."""
    return float(multiples[np.argmax(money_at(estimate, multiples))])


def binding_table(
    potential: Sequence[int], sales: int = 150, seed: int = 3, sees: bool = False
) -> pd.DataFrame:
    """Return bids of even values above a reserve of 1/2, with as many sales of each number.

    Bidders who see how many came bid against these, and others against all who could have come.
    """
    rng, rows = np.random.default_rng(seed), []
    for count in potential:
        values = rng.uniform(size=(4 * sales, count))
        came = values >= 0.5
        bids = values - (values**count - 0.5**count) / (count * values ** (count - 1))
        if sees:
            bids = values - (values - 0.5) / came.sum(axis=1, keepdims=True).clip(1)
        kept = came.sum(axis=1) >= 2
        rows += [row[own] for row, own in zip(bids[kept], came[kept], strict=True)][:sales]
    return table_of(rows, reserve=[0.5] * len(rows))
