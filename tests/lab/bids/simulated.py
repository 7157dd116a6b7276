"""Logs of bids whose values are known; helpers for tests, not a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from daedalus.lab.bids.estimator import Estimate, money_at
from daedalus.lab.bids.log import BidLog, bid_log
from daedalus.lab.bids.settings import BidLogSettings

Numbers = NDArray[np.float64]
Quantile = Callable[[Numbers], Numbers]

_GRID = np.linspace(0.0, 1.0, 20_001)


def uniform(levels: Numbers) -> Numbers:
    return levels


def equilibrium(quantile: Quantile, bidders: int) -> Numbers:
    """Return first-price bids at the levels of a grid, by the trapezoid rule."""
    values, wins = quantile(_GRID.clip(1e-9, 1 - 1e-6)), _GRID ** (bidders - 1)
    rent = np.concatenate([[0.0], np.cumsum((wins[1:] + wins[:-1]) / 2 * np.diff(values))])
    return values - np.divide(rent, wins, out=np.zeros_like(rent), where=wins > 0)


def first_price_bids(
    quantile: Quantile, bidders: int, sales: int, rng: np.random.Generator
) -> Numbers:
    """Return equilibrium bids of independent values, shape (sales, bidders)."""
    levels = rng.random((sales, bidders)).clip(1e-4)
    return np.interp(levels, _GRID, equilibrium(quantile, bidders))


def table_of(bids: Sequence[Numbers], **columns: Sequence[Sequence[object]]) -> pd.DataFrame:
    """Return a row for each bid of each sale, with columns that each sale has one value of."""
    rows = []
    for number, sale in enumerate(bids):
        shared = {name: values[number] for name, values in columns.items()}
        rows += [{"auction": f"A{number:05d}", "bid": float(bid), **shared} for bid in sale]
    return pd.DataFrame(rows)


def uniform_log(sales: int, sizes: Sequence[int] = (2, 3), seed: int = 0) -> BidLog:
    """Return a first-price log of values from 0 to 1, the same number of sales of each size."""
    rng = np.random.default_rng(seed)
    bids = [
        row for size in sizes for row in first_price_bids(uniform, size, sales // len(sizes), rng)
    ]
    return bid_log(table_of(bids), BidLogSettings(), "uniform")


def clock_bids(values: Numbers) -> Numbers:
    """Return the last bids in a clock: all stop at their value, the winner with the second."""
    bids = np.sort(values, axis=1)
    bids[:, -1] = bids[:, -2]
    return bids


def best_multiple(estimate: Estimate, multiples: Numbers) -> float:
    """Return the multiple of the base that brings most."""
    return float(multiples[np.argmax(money_at(estimate, multiples))])
