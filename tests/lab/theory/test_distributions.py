"""Distributions of values: their functions, and virtual values that are ironed exactly."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.lab.theory.distributions import Distribution
from daedalus.market.value_distribution import Knots, ValueDistribution

UNIFORM = Distribution.of(ValueDistribution().knots())
IRREGULAR = Distribution.of(
    ValueDistribution(
        family="mixture", parts=[[0.75, 0.0, 3.0 / 8.0], [0.25, 3.0 / 8.0, 1.0]]
    ).knots(),
    high=8.0,
)
GAP = Distribution(np.array([0.0, 0.6, 0.6, 1.0]), np.array([0.0, 0.3, 0.7, 1.0]))
ATOM = Distribution(np.array([0.0, 0.2, 0.7, 1.0]), np.array([0.0, 0.4, 0.4, 1.0]))
SHORT = Distribution(np.array([0.0, 0.5, 1.0]), np.array([0.1, 0.3, 0.8]))
BETA = Distribution.of(ValueDistribution(family="beta", alpha=0.5, beta=0.5).knots(), 0.2, 0.9)
ALL = [UNIFORM, IRREGULAR, GAP, ATOM, BETA]


def brute_ironed(distribution: Distribution, levels: int = 20_000) -> np.ndarray:
    """Slopes of the concave hull of the revenue curve on a grid of levels, at its middles."""
    grid = np.linspace(0.0, 1.0, levels + 1)
    revenue = (1.0 - grid) * distribution.quantile(grid)
    hull: list[int] = []
    for point in range(levels + 1):
        while len(hull) > 1:
            first, second = hull[-2:]
            rise = (revenue[second] - revenue[first]) * (point - first)
            if rise > (revenue[point] - revenue[first]) * (second - first):
                break
            hull.pop()
        hull.append(point)
    smooth = np.interp(grid, grid[hull], revenue[hull])
    return np.asarray(-np.diff(smooth) * levels)


def mean(distribution: Distribution) -> float:
    middles = (distribution.places[1:] + distribution.places[:-1]) / 2.0
    return float(np.diff(distribution.levels) @ middles)


def below(distribution: Distribution, values: np.ndarray | float) -> np.ndarray:
    """Return the probability of less than some values."""
    return distribution.up_to(np.nextafter(values, -np.inf))


def best_price(distribution: Distribution) -> float:
    """Return the price that maximises p P(v >= p): there the ironed virtual value is 0."""
    return float(distribution.quantile(below(distribution.ironed, 0.0)))


def ironed_at(distribution: Distribution, values: np.ndarray) -> np.ndarray:
    """Return the ironed virtual values of some values."""
    return distribution.ironed.quantile(distribution.up_to(values))


def test_a_uniform_value_has_the_textbooks_virtual_value() -> None:
    values = np.linspace(0.0, 1.0, 101)
    np.testing.assert_allclose(ironed_at(UNIFORM, values), 2.0 * values - 1.0, atol=1e-15)
    assert best_price(UNIFORM) == pytest.approx(0.5, abs=1e-15)
    assert mean(UNIFORM) == 0.5


@pytest.mark.parametrize("distribution", ALL)
def test_ironed_virtual_values_are_slopes_of_the_hull(distribution: Distribution) -> None:
    brute = brute_ironed(distribution)
    middles = (np.arange(len(brute)) + 0.5) / len(brute)
    exact = distribution.ironed.quantile(middles)
    assert (np.diff(exact) >= 0.0).all()
    assert np.abs(exact - brute).mean() < 1e-3


@pytest.mark.parametrize("distribution", ALL)
def test_ironing_keeps_the_area_below_each_end(distribution: Distribution) -> None:
    """The virtual value integrates to the lowest value, which a price of it would earn."""
    assert mean(distribution.ironed) == pytest.approx(float(distribution.quantile(0.0)), abs=1e-12)


@pytest.mark.parametrize("distribution", ALL)
def test_the_best_price_earns_most(distribution: Distribution) -> None:
    prices = np.linspace(0.0, distribution.places[-1], 5001)
    best = best_price(distribution)
    earned = best * (1.0 - float(below(distribution, best)))
    assert earned >= (prices * (1.0 - below(distribution, prices))).max() - 1e-12


def test_an_irregular_value_is_ironed_where_the_density_rises() -> None:
    values = np.array([1.0, 2.9, 3.1, 4.0, 7.0])
    ironed = ironed_at(IRREGULAR, values)
    assert ironed[1] == ironed[2] and (np.diff(ironed) >= 0.0).all()
    rent = (1.0 - IRREGULAR.up_to(values)) / IRREGULAR.density(values)
    plain = values - rent
    assert plain[1] > plain[2]
    np.testing.assert_allclose(ironed[[0, 4]], plain[[0, 4]])


def test_atoms_and_gaps_have_two_sides() -> None:
    assert float(below(ATOM, 0.4)) == pytest.approx(0.2) and float(ATOM.up_to(0.4)) == 0.7
    assert float(GAP.quantile(0.6)) == 0.7 and float(GAP.up_to(0.5)) == 0.6
    assert float(GAP.density(0.5)) == 0.0
    assert best_price(GAP) == 0.7
    np.testing.assert_array_equal(UNIFORM.density(np.array([-0.1, 0.0, 0.5, 1.0])), [0, 1, 1, 0])


def test_a_distribution_is_scaled_to_its_ends() -> None:
    knots = Knots(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    scaled = Distribution.of(knots, 0.2, 0.6)
    assert float(scaled.quantile(0.25)) == pytest.approx(0.3)
    assert float(scaled.up_to(0.3)) == pytest.approx(0.25)
    assert best_price(scaled) == pytest.approx(0.3)


def test_a_distribution_knows_which_values_may_be_drawn() -> None:
    ends = Distribution(
        np.array([0.0, 0.0, 0.4, 0.4, 1.0, 1.0]), np.array([0, 0.1, 0.2, 0.6, 0.8, 1])
    )
    assert (ends.lowest, ends.highest) == (0.1, 0.8)
    found = ends.may_be(np.array([0.0, 0.05, 0.1, 0.15, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0]))
    assert found.tolist() == [False, False, True, True, True, False, True, True, False, False]
    assert (ATOM.lowest, ATOM.highest) == (0.0, 1.0)
    assert ATOM.may_be(np.array([-1.0, 0.0, 0.4, 1.0, 2.0])).tolist() == [False, *[True] * 3, False]
