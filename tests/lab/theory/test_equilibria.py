"""The theory against published numbers, and against itself."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betainc

from daedalus.lab.theory import equilibria


@pytest.mark.parametrize(
    ("bidders", "reserve", "ring", "revenue"),
    [
        (2, 0.0, 1, 0.3333), (3, 0.0, 1, 0.5), (4, 0.0, 1, 0.6), (5, 0.0, 1, 0.6667),
        (2, 0.5, 1, 0.4167), (3, 0.5, 1, 0.5313), (4, 0.5, 1, 0.6125), (5, 0.5, 1, 0.6719),
        (5, 0.0, 2, 0.65), (5, 0.0, 3, 0.6), (5, 0.0, 4, 0.4667), (5, 0.0, 5, 0.0),
    ],
)  # fmt: skip
def test_revenue_is_the_published_one(
    bidders: int, reserve: float, ring: int, revenue: float
) -> None:
    expected = equilibria.expected_revenue(bidders, reserve, ring)
    assert expected == pytest.approx(revenue, abs=6e-5)


@pytest.mark.parametrize(
    ("ring", "reserve"), [(1, 0.5), (2, 0.5393), (3, 0.5987), (4, 0.6539), (5, 0.6988)]
)
def test_the_best_reserve_is_where_revenue_is_highest(ring: int, reserve: float) -> None:
    assert equilibria.best_reserve(5, ring) == pytest.approx(reserve, abs=1e-4)
    grid = np.linspace(0.0, 1.0, 10_001)
    revenue = [equilibria.expected_revenue(5, each, ring) for each in grid]
    assert grid[np.argmax(revenue)] == pytest.approx(reserve, abs=2e-4)


@pytest.mark.parametrize("units", [1, 2, 4])
def test_no_other_bid_of_the_pay_as_bid_equilibrium_is_better(units: int) -> None:
    bidders, values = 5, np.linspace(0.001, 1.0, 300)
    bids = equilibria.pay_as_bid(values, bidders, units)
    wins = betainc(bidders - units, units, values)
    surplus = (values[:, None] - bids) * wins
    assert (surplus.max(axis=1) - np.diag(surplus)).max() < 1e-12
    if units == 1:
        np.testing.assert_allclose(bids, equilibria.first_price_bid(values, bidders))
