"""Who is of which type: shares by largest remainder, Dirichlet draws, and nothing but the seed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.market import composition
from daedalus.market.population import BidderType, Population
from daedalus.market.seeds import market_seeds

SEEDS = market_seeds(2, "composition", 20_000)
EIGHTHS = [np.array(shares) / 64 for shares in ((32, 16, 16), (60, 4), (8, 8, 8, 40), (64, 0))]


def compose(seeds, shares, concentration, bidders) -> np.ndarray:
    """Return the types of episodes that all have the same number of bidders."""
    sizes = np.full(len(seeds), bidders)
    return composition.compose(seeds, shares, concentration, sizes, bidders)


def counts(seeds, shares, concentration=None, bidders=8) -> np.ndarray:
    """Return how many bidders of each type every episode has, shape (B, T)."""
    kind = compose(seeds, np.asarray(shares, np.float64), concentration, bidders)
    return (kind[:, :, None] == np.arange(len(shares))).sum(axis=1)


@pytest.mark.parametrize(
    ("shares", "bidders", "expected"),
    [
        ([1], 8, [8]),
        ([0.7, 0.3], 8, [6, 2]),
        ([0.3, 0.3, 0.2, 0.2], 8, [2, 2, 2, 2]),
        ([0.2, 0.2, 0.2, 0.2, 0.2], 8, [2, 2, 2, 1, 1]),
        ([0.5, 0.5], 3, [2, 1]),
        ([0, 2, 6], 8, [0, 2, 6]),
        ([0.01, 0.99], 8, [0, 8]),
        ([1, 1, 1], 2, [1, 1, 0]),
        ([0.2, 0.7, 0.1], 8, [2, 5, 1]),  # a tie goes to the earlier type
        ([0.1, 0.7, 0.2], 8, [1, 6, 1]),
    ],
)
def test_shares_by_hand(shares, bidders, expected):
    assert counts(SEEDS[:2], shares, None, bidders).tolist() == [expected] * 2
    types = {str(number): BidderType(share) for number, share in enumerate(shares)}
    seats = Population(bidders=bidders, types=types).seats_of_types()
    assert list(seats.values()) == expected


@pytest.mark.slow
@given(
    weights=st.lists(st.integers(0, 60), min_size=1, max_size=6).filter(sum),
    bidders=st.integers(2, 64),
)
@settings(max_examples=500, deadline=None)
def test_kernel_apportions_seats_as_the_population_says(weights, bidders):
    types = {str(number): BidderType(weight) for number, weight in enumerate(weights)}
    seats = Population(bidders=bidders, types=types).seats_of_types()
    kind = compose(SEEDS[:1], np.array(weights, np.float64), None, bidders)
    assert_array_equal(kind[0], np.repeat(np.arange(len(weights)), list(seats.values())))


@pytest.mark.parametrize("concentration", [0.3, 1.0, 5.0, 60.0])
@pytest.mark.parametrize("shares", EIGHTHS, ids=str)
def test_drawn_shares_have_dirichlet_moments(shares, concentration):
    drawn = counts(SEEDS, shares, concentration, 64) / 64
    variance = shares * (1 - shares) / (concentration + 1)
    error = np.sqrt(variance / len(SEEDS))
    assert_allclose(drawn.mean(axis=0), shares, atol=4.5 * error.max() + 0.002)
    rounding = 1 / 12 / 64**2
    assert_allclose(drawn.var(axis=0), variance, rtol=0.06, atol=2 * rounding)
    assert_array_equal(drawn[:, shares == 0], 0)


def test_two_equal_shares_summing_to_two_are_uniform():
    drawn = counts(SEEDS, [1, 1], 2.0, 64)[:, 0]
    seen = np.bincount(drawn, minlength=65)[1:-1] / len(SEEDS)
    assert_allclose(seen, 1 / 64, atol=4.5 * (1 / 64 / len(SEEDS)) ** 0.5)


def test_drawn_shares_covary_as_the_dirichlet_distribution():
    shares, concentration = EIGHTHS[0], 3.0
    drawn = counts(SEEDS, shares, concentration, 64) / 64
    covariance = np.cov(drawn.T)[~np.eye(3, dtype=bool)]
    expected = (-np.outer(shares, shares) / (concentration + 1))[~np.eye(3, dtype=bool)]
    assert_allclose(covariance, expected, rtol=0.08)


@pytest.mark.parametrize("concentration", [0.001, 0.02])
def test_a_small_concentration_gives_one_type(concentration):
    shares = [0.25, 0.75]
    alone = counts(SEEDS, shares, concentration)
    assert (alone.max(axis=1) == 8).mean() > 0.95
    assert_allclose(alone.mean(axis=0) / 8, shares, atol=0.02)


def test_a_large_concentration_gives_the_shares():
    assert_array_equal(counts(SEEDS[:500], [0.25, 0.75], 1e6), np.tile([2, 6], (500, 1)))


@pytest.mark.parametrize("concentration", [None, 1.0])
def test_an_episode_depends_on_its_seed_alone(concentration):
    shares, seeds = np.array([0.2, 0.5, 0.3]), SEEDS[:100]
    together = compose(seeds, shares, concentration, 8)
    assert_array_equal(compose(seeds[::-1], shares, concentration, 8), together[::-1])
    for row in (0, 57, 99):
        alone = compose(seeds[row : row + 1], shares, concentration, 8)
        assert_array_equal(alone[0], together[row])
    assert_array_equal(compose(seeds, 7 * shares, concentration, 8), together)


def test_shares_are_left_as_they_were():
    shares = np.array([1.0, 3.0])
    compose(SEEDS[:5], shares, 2.0, 8)
    assert_array_equal(shares, [1.0, 3.0])


def test_an_episode_of_fewer_bidders_leaves_the_last_seats_empty():
    sizes = np.arange(2, 10)
    mixed = composition.compose(SEEDS[:8], np.ones(3), 2.0, sizes, 12)
    assert mixed.shape == (8, 12)
    for seed, bidders, row in zip(SEEDS[:8], sizes, mixed, strict=True):
        alone = compose(np.array([seed]), np.ones(3), 2.0, bidders)[0]
        assert_array_equal(row[:bidders], alone)
        assert not row[bidders:].any()
