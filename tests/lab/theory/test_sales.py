"""Revenue and welfare of one sale, against formulas and against sales that are played."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from daedalus.lab.theory import equilibria, sales
from daedalus.lab.theory.distributions import Distribution
from daedalus.lab.theory.sales import Bidder, symmetric
from daedalus.market.auction import clear_sales
from daedalus.market.value_distribution import ValueDistribution
from tests.lab.theory.test_deviations import drawn
from tests.lab.theory.test_distributions import ATOM, GAP, IRREGULAR, UNIFORM, below, best_price

LADDER = [Distribution.of(ValueDistribution().knots(), high=i / 5.0) for i in range(1, 6)]


@pytest.mark.parametrize("bidders", [2, 5, 64])
@pytest.mark.parametrize("reserve", [0.0, 0.3, 0.8])
def test_uniform_values_agree_with_the_formulas(bidders: int, reserve: float) -> None:
    crowd = symmetric(UNIFORM, bidders)
    revenue, welfare = (
        each(bidders, reserve)
        for each in (equilibria.expected_revenue, equilibria.expected_welfare)
    )
    assert sales.expected_revenue(crowd, reserve) == pytest.approx(revenue, abs=1e-12)
    assert sales.expected_welfare(crowd, reserve) == pytest.approx(welfare, abs=1e-12)


@pytest.mark.parametrize("values", [UNIFORM, GAP, ATOM])
def test_one_bidders_optimum_is_the_best_price(values: Distribution) -> None:
    earned = best_price(values) * (1.0 - float(below(values, best_price(values))))
    assert sales.optimal_revenue([values]) == pytest.approx(earned, abs=1e-12)
    assert sales.optimal_revenue([values] * 2, 2) == pytest.approx(2.0 * earned, abs=1e-12)


@pytest.mark.parametrize("units", [1, 2, 3])
def test_revenue_of_units_is_the_known_one(units: int) -> None:
    revenue = sales.expected_revenue(symmetric(UNIFORM, 5), 0.0, units)
    assert revenue == pytest.approx(equilibria.expected_units_revenue(5, units), abs=1e-12)
    assert sales.best_reserve(symmetric(UNIFORM, 5), units) == pytest.approx(0.5, abs=1e-6)
    with_reserve = sales.expected_revenue(symmetric(UNIFORM, 5), 0.5, units)
    assert sales.optimal_revenue([UNIFORM] * 5, units) == pytest.approx(with_reserve, abs=1e-12)


@pytest.mark.parametrize("units", [1, 2, 4])
@pytest.mark.parametrize("reserve", [0.0, 0.4])
def test_integrals_agree_with_sales_that_are_played(units: int, reserve: float) -> None:
    """Unlike bidders, some of whom want two units; a value of one of them is often 0.4."""
    crowd = [Bidder(UNIFORM), Bidder(GAP, 2), Bidder(LADDER[3], 2), Bidder(ATOM)]
    bids = drawn(crowd, 200_000)
    played = clear_sales(bids, "second_price", units, reserve)
    worth = (bids * (played.won[:, :, None] > np.arange(2))).sum(axis=(1, 2))
    revenue = played.paid.sum(axis=1)
    assert sales.expected_revenue(crowd, reserve, units) == pytest.approx(revenue.mean(), abs=4e-3)
    assert sales.expected_welfare(crowd, reserve, units) == pytest.approx(worth.mean(), abs=4e-3)


AREAS = """
import numpy as np
from daedalus.lab.theory.sales import area
for seed in range(20):
    print(float(area(np.exp, np.sort(np.random.default_rng(seed).random(8)), 9)).hex())
"""


@pytest.mark.slow
def test_integrals_have_the_same_bits_on_other_processors() -> None:
    """OpenBLAS adds in an order of the processor's kind; ``Nehalem`` is one that all can play."""
    found = set()
    for kind in ({}, {"OPENBLAS_CORETYPE": "Nehalem"}):
        command, environment = [sys.executable, "-c", AREAS], os.environ | kind
        found.add(subprocess.run(command, env=environment, check=True, capture_output=True).stdout)
    assert len(found) == 1


def test_the_best_reserve_against_unlike_bidders() -> None:
    crowd = [Bidder(each) for each in LADDER]
    best = sales.best_reserve(crowd)
    grid = [sales.expected_revenue(crowd, each) for each in np.linspace(0.0, 1.0, 201)]
    assert sales.expected_revenue(crowd, best) >= max(grid) - 1e-12


@pytest.mark.parametrize("reserve", [0.0, 0.5])
@pytest.mark.parametrize("bidders", [2, 5])
def test_first_price_bids_are_the_known_equilibrium(bidders: int, reserve: float) -> None:
    values = np.linspace(max(reserve, 1e-3), 1.0, 57)
    known = equilibria.first_price_bid(values, bidders, reserve)
    found = sales.first_price_bids(values, UNIFORM, bidders, reserve)
    np.testing.assert_allclose(found, known, atol=1e-13)


def test_pay_as_bid_bids_are_the_known_equilibrium() -> None:
    values = np.linspace(1e-2, 1.0, 57)
    found = sales.first_price_bids(values, UNIFORM, 5, units=2)
    np.testing.assert_allclose(found, equilibria.pay_as_bid(values, 5, 2), atol=1e-12)


def test_no_other_bid_of_the_equilibrium_is_better() -> None:
    values = np.linspace(0.05, 7.9, 200)
    bids = sales.first_price_bids(values, IRREGULAR, 3)
    surplus = (values[:, None] - bids) * IRREGULAR.up_to(values) ** 2
    assert (surplus.max(axis=1) - np.diag(surplus)).max() < 1e-12


def test_an_atom_has_no_equilibrium_in_bids_without_chance() -> None:
    with pytest.raises(ValueError, match="spread them, so that no value ties"):
        sales.first_price_bids(np.array([0.5]), ATOM, 3)
