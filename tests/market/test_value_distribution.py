"""Tests of the distributions of values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from daedalus.market.value_distribution import Knots, ValueDistribution

GRID = np.linspace(0.0, 1.0, 501)
MIDDLES = np.linspace(0.0, 1.0, 20001)[1:-1:2]


def below(knots: Knots, places: np.ndarray) -> np.ndarray:
    return np.interp(places, knots.places, knots.levels)


@pytest.mark.parametrize(
    ("settings", "exact"),
    [
        ({"family": "uniform"}, stats.uniform()),
        ({"family": "exponential", "mean": 0.1}, stats.truncexpon(b=10.0, scale=0.1)),
        ({"family": "beta", "alpha": 2.0, "beta": 5.0}, stats.beta(2, 5)),
        ({"family": "beta", "alpha": 0.5, "beta": 0.5}, stats.beta(0.5, 0.5)),
    ],
)
def test_the_knots_follow_the_distribution_function(settings: dict[str, Any], exact: Any) -> None:
    knots = ValueDistribution(**settings).knots()
    assert np.abs(below(knots, GRID) - exact.cdf(GRID)).max() < 1e-3
    assert knots.quantile(MIDDLES).mean() == pytest.approx(exact.mean(), abs=1e-4)


def test_a_mixture_and_a_table_are_exact() -> None:
    mixture = ValueDistribution("mixture", parts=[[3.0, 0.0, 0.375], [1.0, 0.375, 1.0]]).knots()
    assert below(mixture, np.array([0.1875, 0.375, 0.6875])).tolist() == [0.375, 0.75, 0.875]
    gap = ValueDistribution("mixture", parts=[[1.0, 0.0, 0.2], [1.0, 0.8, 1.0]]).knots()
    assert gap.quantile(np.array([0.25, 0.75])) == pytest.approx([0.1, 0.9])
    weights = [0.1, 0.3]  # their shares add up to a little less than 1
    parts = ValueDistribution("mixture", parts=[[each, 0.0, 1.0] for each in weights]).knots()
    assert parts.quantile(np.array([0.25, 0.75])) == pytest.approx([0.25, 0.75])
    table = ValueDistribution("quantiles", quantiles=[0.1, 0.2, 0.9]).knots()
    assert table.quantile(np.array([0.0, 0.25, 0.5, 1.0])) == pytest.approx([0.1, 0.15, 0.2, 0.9])


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"family": "normal"}, "choose one of uniform, exponential"),
        ({"family": "beta", "alpha": 1.0}, "beta: family=beta needs it"),
        ({"family": "beta", "alpha": 0.1, "beta": 1.0}, "a number from 0.5 to 100"),
        ({"mean": 0.5}, "family=uniform takes no parameters"),
        ({"family": "exponential", "mean": 0.1, "alpha": 2.0}, "family=exponential takes mean"),
        ({"family": "exponential", "mean": float("nan")}, "finite number above 0"),
        ({"family": "mixture", "parts": []}, "give \\[weight, low, high\\]"),
        ({"family": "mixture", "parts": [[0.0, 0.0, 1.0]]}, "a weight above 0"),
        ({"family": "mixture", "parts": [[1.0, 0.0, 1.5]]}, "low < high <= 1"),
        ({"family": "quantiles", "quantiles": [0.5, 0.4]}, "none below the one before"),
        ({"family": "quantiles", "quantiles": [0.5, 1.2]}, "numbers from 0 to 1"),
        ({"family": "quantiles", "quantiles": [0.5, 0.5]}, "the last above the first"),
    ],
)
def test_bad_distributions_are_refused(settings: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ValueDistribution(**settings)
