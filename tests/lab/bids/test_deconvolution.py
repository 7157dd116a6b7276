"""Private values are told apart from what the bidders of a sale know in common."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.lab.bids.deconvolution import Deconvolution, knots
from daedalus.lab.bids.estimator import money_at
from daedalus.lab.bids.likelihood import SealedBids
from daedalus.lab.bids.verdict import MULTIPLES
from tests.lab.bids.simulated import best_multiple, estimator_of_table, table_of

QUARTILES = [25, 50, 75]


def shared_bids(
    sales: int, deviation: float, lowest: float, rng: np.random.Generator, bidders: int = 3
) -> np.ndarray:
    """Return first-price bids of values even from ``lowest`` to 1, times levels, (sales, n)."""
    values = rng.uniform(lowest, 1.0, (sales, bidders))
    bids = values - (values - lowest) / bidders
    return bids * np.exp(deviation * rng.normal(size=(sales, 1)))


def separated(bids: np.ndarray, own_bid: bool = True) -> Deconvolution:
    logs = np.log(bids).ravel()
    return Deconvolution.of(
        SealedBids(logs, np.zeros(len(logs)), np.full(len(bids), bids.shape[1])), own_bid
    )


@pytest.mark.slow
@pytest.mark.parametrize(("lowest", "deviation"), [(0.5, 0.1), (0.5, 0.6), (0.0, 0.3)])
def test_quartiles_are_those_of_private_values(lowest: float, deviation: float) -> None:
    """Mean errors over five logs of 400 sales; by second moments the median was 0.021 too low."""
    rng = np.random.default_rng(1)
    found = [separated(shared_bids(400, deviation, lowest, rng)) for _ in range(5)]
    truth = lowest + (1.0 - lowest) * np.array([0.25, 0.5, 0.75])
    errors = np.mean([each.values[QUARTILES] for each in found], axis=0) - truth
    assert abs(errors).max() < 0.02
    assert np.mean([each.deviation for each in found]) == pytest.approx(deviation, rel=0.1)


def test_sealed_second_price_bids_are_values() -> None:
    rng = np.random.default_rng(2)
    values = rng.uniform(0.5, 1.0, (400, 3)) * np.exp(0.3 * rng.normal(size=(400, 1)))
    found = separated(values, own_bid=False)
    assert found.values[QUARTILES] == pytest.approx([0.625, 0.75, 0.875], abs=0.03)


def test_a_sample_is_near_its_own_estimate() -> None:
    """One Newton step leads to where the whole search leads."""
    rng = np.random.default_rng(3)
    bids = shared_bids(400, 0.3, 0.5, rng)
    drawn = rng.integers(400, size=400)
    stepped = separated(bids).resampled(np.bincount(drawn, minlength=400).astype(float))
    searched = separated(bids[drawn])
    moved = abs(searched.values - separated(bids).values)[QUARTILES].max()
    assert moved > 0.004
    assert abs(stepped.values - searched.values)[QUARTILES].max() < 0.6 * moved


@pytest.mark.slow
@pytest.mark.parametrize("deviation", [0.1, 0.3, 0.6])
def test_intervals_cover(deviation: float) -> None:
    """At the quartiles 95 % intervals hold the truth; by second moments 0 to 50 % did."""
    rng = np.random.default_rng(4)
    truth, hits = np.array([0.625, 0.75, 0.875]), []
    for _ in range(60):
        found = separated(shared_bids(400, deviation, 0.5, rng))
        drawn = (np.bincount(rng.integers(400, size=400), minlength=400) for _ in range(100))
        samples = [found.resampled(each.astype(float)).parameters for each in drawn]
        values = found.sieve.values(np.array(samples))[:, QUARTILES]  # at once: it is much faster
        low, high = np.quantile(values, [0.025, 0.975], axis=0)
        hits.append((low <= truth) & (truth <= high))
    assert np.mean(hits) > 0.89


@pytest.mark.slow
def test_estimates_have_the_levels_of_sales() -> None:
    """Private values are the same for both numbers of bidders, together and apart.

    A mean over five logs: the upper quartile of one has a standard error of 0.04.
    """
    together, apart = [], []
    for seed in range(5, 10):
        rng = np.random.default_rng(seed)
        bids = [row for n in (2, 4) for row in shared_bids(300, 0.4, 0.0, rng, n)]
        estimate = estimator_of_table(table_of(bids), outliers=None).estimate()
        assert estimate.common.std() > 0.3 and set(estimate.by_size) == {2, 4}
        scale = estimate.levels.observable.mean()
        together.append(estimate.values[QUARTILES] * scale)
        apart.append([estimate.by_size[size][QUARTILES] * scale for size in (2, 4)])
    assert np.mean(together, axis=0) == pytest.approx([0.25, 0.5, 0.75], abs=0.04)
    for alone in np.mean(apart, axis=0):
        assert alone == pytest.approx([0.25, 0.5, 0.75], abs=0.1)


def test_independent_bids_have_nothing_to_separate() -> None:
    rng = np.random.default_rng(6)
    even, shared = (table_of(shared_bids(300, common, 0.5, rng)) for common in (0.0, 0.1))
    estimator = estimator_of_table(even)
    assert estimator.parts is None and estimator.estimate().common.tolist() == [1.0]
    assert estimator_of_table(shared).parts is not None
    assert estimator_of_table(shared, common_part=False).parts is None


def test_knots_grow_with_the_log_and_fall_with_smoothing() -> None:
    few, many = knots(180), knots(60_000)
    assert few[0] == 0.0 and few[-1] == 1.0 and (np.diff(many) > 0).all()
    assert len(few) < len(many) and len(knots(60_000, 2.0)) < len(many) < len(knots(60_000, 0.5))


def test_revenue_counts_levels_that_differ() -> None:
    """Without a reserve a sale earns what the log paid; at one level for all it would be less."""
    rng = np.random.default_rng(8)
    found = estimator_of_table(table_of(shared_bids(1500, 0.6, 0.5, rng)), outliers=None)
    revenue = money_at(found.estimate(), np.zeros(1))[0]
    assert revenue == pytest.approx(found.log.paid.mean(), rel=0.04)


def test_rounded_bids_stand_for_their_steps() -> None:
    """Even values from 0 to 1, bids to 0.1: the best reserve was 0.591 when steps were ignored."""
    rng, reserves = np.random.default_rng(9), []
    for _ in range(4):
        bids = np.round(shared_bids(600, 0.0, 0.0, rng), 1)
        found = estimator_of_table(table_of([row[row > 0] for row in bids]))
        reserves.append(best_multiple(found.estimate(), MULTIPLES) * found.unit)
    assert np.mean(reserves) == pytest.approx(0.5, abs=0.05)


def test_samples_lie_around_the_estimate() -> None:
    """Rises between knots are noisy, but their noise does not lift the quantiles."""
    rng = np.random.default_rng(5)
    found = separated(shared_bids(2000, 0.1, 0.5, rng))
    drawn = rng.multinomial(2000, np.full(2000, 1 / 2000), size=200)
    values = np.array([found.resampled(each.astype(float)).values[QUARTILES] for each in drawn])
    assert (abs((values > found.values[QUARTILES]).mean(axis=0) - 0.5) < 0.15).all()
