"""Ascending sales: what bids have in common stays in them, and jump bids are allowed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from daedalus.lab.bids.estimator import Estimate, Estimator
from daedalus.lab.bids.value_quantiles import LEVELS
from daedalus.lab.bids.verdict import MULTIPLES, Verdict, interval_of, place_of, policy_in_force
from daedalus.lab.studies.bid_play import jump_bids
from tests.lab.bids.conftest import judge
from tests.lab.bids.simulated import best_multiple, clock_bids, estimator_of_table, table_of

QUARTILES = np.array([0.25, 0.5, 0.75])
AT = (100 * QUARTILES).astype(int)
FINE = np.arange(0.0, 5.0, 0.01)
INCREMENT = 0.02


def estimator_of(bids: np.ndarray, **changes: object) -> Estimator:
    return estimator_of_table(table_of(bids), format="ascending", **changes)


def values_of(sales: int, low: float, seed: int) -> np.ndarray:
    return np.asarray(low + (1.0 - low) * np.random.default_rng(seed).random((sales, 3)))


def jumped(sales: int, low: float, seed: int) -> np.ndarray:
    return jump_bids(values_of(sales, low, seed), INCREMENT, 0.3, np.random.default_rng(seed))


@pytest.mark.parametrize("low", [0.0, 0.5])
@pytest.mark.parametrize("sales", [400, 2000])
def test_bounds_hold_the_truth_if_bidders_jump(sales: int, low: float) -> None:
    """As much as a twentieth of a quartile is chance."""
    truth, inside = low + (1.0 - low) * LEVELS, slice(5, -5)
    found = estimator_of(jumped(sales, low, sales), increment=INCREMENT)
    estimate = found.estimate()
    near, far = (each * estimate.money for each in (estimate.low, estimate.high))
    assert (near < truth)[inside].all() and (truth < far)[inside].all() and (near <= far).all()
    assert (far - near)[AT].max() < 0.2


def test_without_the_increment_the_upper_bound_is_too_low() -> None:
    values = values_of(2000, 0.0, 3)
    bids = jump_bids(values, 0.2, 0.0, np.random.default_rng(3))
    estimates = [estimator_of(bids, increment=each).estimate() for each in (0.2, 0.0)]
    with_, without = (each.high[75] * each.money for each in estimates)
    assert without < 0.75 < with_


@pytest.mark.parametrize("sales", [400, 2000])
def test_a_clock_tells_values(sales: int) -> None:
    """Bounds were [.284, .284] for .25 with the common part taken out.

    Haile & Tamer (2003): if every bidder bids up to its value, the bounds are the truth.
    """
    bids = clock_bids(values_of(sales, 0.0, 5))
    found = estimator_of(bids, resamples=60)
    estimate = found.estimate()
    assert np.allclose(estimate.low, estimate.high)
    assert abs(estimate.low * estimate.money - LEVELS)[5:-5].max() < 0.05
    drawn = [each.values[AT] * each.money for each in found.bootstrap(np.random.default_rng(0))]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    assert ((low < QUARTILES) & (high > QUARTILES)).all()
    asked = estimator_of(bids, common_part=True).estimate()
    assert asked.high[25] * asked.money > 0.27


@pytest.mark.slow
def test_a_clock_tells_the_best_reserve() -> None:
    """It is 1/2; of one log it is off by 0.03, so the mean over five is taken."""

    def best(seed: int, common_part: bool | None) -> float:
        found = estimator_of(clock_bids(values_of(2000, 0.0, seed)), common_part=common_part)
        return best_multiple(found.estimate(), FINE) * found.unit

    assert np.mean([best(seed, None) for seed in range(5)]) == pytest.approx(0.5, abs=0.03)
    assert best(0, True) < 0.4


def test_intervals_reach_over_both_bounds() -> None:
    """They were those of the middle of the bounds, which the bidders' values need not be at."""
    found = estimator_of(jumped(400, 0.0, 1), increment=INCREMENT, resamples=40)
    samples = list(found.bootstrap(np.random.default_rng(0)))
    kept = policy_in_force(found)

    def verdict_of(change: Callable[[Estimate], Estimate]) -> Verdict:
        judgement, *others = (judge(change(each), found) for each in (found.estimate(), *samples))
        return Verdict.of(kept, kept.mechanism, judgement, others, found, 0.95)

    both = verdict_of(lambda each: each)
    at = place_of(both.policy.multiple)
    for values in ("low", "high"):
        ends = [judge(each.with_values(getattr(each, values)), found) for each in samples]
        gains = [each.designed[at] - each.in_force[0] for each in ends]
        best = [MULTIPLES[np.argmax(each.designed)] for each in ends]
        for wide, near in ((both.interval, gains), (both.best, best)):
            low, high = interval_of(near, 0.95)
            assert wide[0] <= low and high <= wide[1]
    middle = verdict_of(lambda each: each.with_values(each.values))
    assert both.gain == middle.gain and np.ptp(both.best) > np.ptp(middle.best)
