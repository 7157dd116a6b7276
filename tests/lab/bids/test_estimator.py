"""The estimate of a whole log, its bootstrap, and revenue."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.lab.bids.estimator import LEVEL, MONEY, RESERVE, revenue_curve
from daedalus.lab.bids.value_quantiles import LEVELS
from daedalus.lab.theory.distributions import Distribution
from daedalus.lab.theory.sales import expected_revenue, symmetric
from tests.lab.bids.simulated import best_multiple, estimator_of_table, table_of, uniform_table

MULTIPLES = np.arange(0.0, 5.0, 0.01)


def test_the_curve_is_the_revenue_of_theory() -> None:
    values = LEVELS**2
    curve = revenue_curve(values, {2: 0.25, 5: 0.75})
    for place in (0, 30, 60, 99):
        exact = [
            expected_revenue(symmetric(Distribution(LEVELS, values), n), values[place])
            for n in (2, 5)
        ]
        assert curve[place] == pytest.approx(0.25 * exact[0] + 0.75 * exact[1], abs=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_myerson_s_reserve_comes_out_of_uniform_values(seed: int) -> None:
    """The reserve is 1/2, whatever the number of bidders; bids are its multiples."""
    found = estimator_of_table(uniform_table(12_000, (2, 4), seed))
    reserve = best_multiple(found.estimate(), MULTIPLES) * found.unit
    assert reserve == pytest.approx(0.5, abs=0.02)


@pytest.mark.slow
def test_intervals_cover() -> None:
    """At the quartiles, 90 % intervals hold the truth in most of 20 logs."""
    hits = []
    for seed in range(20):
        found = estimator_of_table(uniform_table(300, (3,), seed), resamples=40)
        drawn = [
            each.values[[25, 50, 75]] * each.money
            for each in found.bootstrap(np.random.default_rng(seed))
        ]
        low, high = np.quantile(drawn, [0.05, 0.95], axis=0)
        truth = np.array([0.25, 0.5, 0.75])
        hits.append((low <= truth) & (truth <= high))
    assert np.mean(hits) > 0.75


def test_the_base_follows_what_the_log_has() -> None:
    bids = list(np.random.default_rng(0).uniform(1.0, 2.0, (80, 3)))
    size = list(np.random.default_rng(1).uniform(1.0, 2.0, 80))
    for columns, base in (({}, MONEY), ({"size": size}, LEVEL), ({"reserve": size}, RESERVE)):
        found = estimator_of_table(table_of(bids, **columns))
        assert found.base == base and (found.unit == 1.0) == (base != MONEY)
    estimate = found.estimate()
    assert estimate.bases.mean() * estimate.money == pytest.approx(np.mean(size), rel=0.05)
    assert estimate.typical_bidders == 3 and estimate.shares == {3: 1.0}


def test_ascending_sales_have_bounds_and_their_middle() -> None:
    bids = list(np.sort(np.random.default_rng(0).uniform(1.0, 2.0, (80, 3)), axis=1))
    estimate = estimator_of_table(table_of(bids), format="ascending").estimate()
    assert not estimate.by_size
    assert np.allclose(estimate.values, (estimate.low + estimate.high) / 2)
