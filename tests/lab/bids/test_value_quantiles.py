"""Values are recovered from bids, at the speed that theory tells."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from daedalus.lab.bids.value_quantiles import (
    LEVELS,
    bandwidth,
    first_price_values,
    quantiles_of,
    values_of,
)
from tests.lab.bids.simulated import Quantile, first_price_bids, uniform


def beta(levels: np.ndarray) -> np.ndarray:
    return np.asarray(stats.beta.ppf(levels, 2, 5))


def lognormal(levels: np.ndarray) -> np.ndarray:
    return np.asarray(np.exp(0.5 * stats.norm.ppf(levels)))


def distance(quantile: Quantile, bidders: int, sales: int, seed: int) -> float:
    """Return the Kolmogorov-Smirnov distance of an estimate from the truth."""
    rng = np.random.default_rng(seed)
    bids = first_price_bids(quantile, bidders, sales, rng).ravel()
    found = first_price_values(bids, np.ones(len(bids)), bidders, bandwidth(len(bids)))
    grid = np.linspace(0.0, 1.0, 20_001).clip(1e-9, 1 - 1e-6)
    return float(abs(np.interp(found, quantile(grid), grid) - LEVELS).max())


@pytest.mark.parametrize("quantile", [uniform, beta, lognormal])
@pytest.mark.parametrize("bidders", [2, 4])
def test_the_distance_falls_as_theory_says(quantile: Quantile, bidders: int) -> None:
    """Theory has the power -2/5 of the number of bids, apart from a logarithm."""
    few, many = (
        np.mean([distance(quantile, bidders, sales, seed) for seed in range(8)])
        for sales in (100, 6400)
    )
    power = np.log(many / few) / np.log(64)
    assert -0.55 < power < -0.25
    assert many < 0.035


def test_weights_count_bids() -> None:
    rng = np.random.default_rng(1)
    bids = first_price_bids(uniform, 3, 50, rng).ravel()
    weights = rng.integers(0, 3, size=len(bids)).astype(float)
    repeated = np.repeat(bids, weights.astype(int))
    one = first_price_values(bids[weights > 0], weights[weights > 0], 3, 0.3)
    other = first_price_values(repeated, np.ones(len(repeated)), 3, 0.3)
    assert np.allclose(one, other, atol=0.02)


def test_second_price_bids_are_values() -> None:
    values = np.random.default_rng(2).random(4000)
    found = values_of(values, np.ones(4000), 2, "second_price", 1.0)
    assert abs(found - LEVELS).max() < 0.03
    assert np.array_equal(found, quantiles_of(values, np.ones(4000)))


@pytest.mark.parametrize("kind", ["ascending", "third_price", ""])
def test_bids_of_another_format_are_not_taken_for_values(kind: str) -> None:
    with pytest.raises(ValueError, match=f"format: '{kind}'; choose first_price or second_price"):
        values_of(np.ones(4), np.ones(4), 2, kind, 1.0)


def test_more_rivals_make_lower_values() -> None:
    bids = first_price_bids(uniform, 3, 300, np.random.default_rng(3)).ravel()
    plain, more, fewer = (
        values_of(bids, np.ones(len(bids)), 3, "first_price", 1.0, change).mean()
        for change in (0, 1, -1)
    )
    assert more < plain < fewer
