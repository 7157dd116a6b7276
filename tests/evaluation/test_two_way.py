"""Intervals over seeds and populations, by hand and by how often they cover."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from daedalus.evaluation.statistics import interquartile_mean, t_interval
from daedalus.evaluation.two_way import over_populations, two_way_interval


def mean(scores: np.ndarray) -> np.ndarray:
    return np.asarray(scores.mean(axis=-1))


Draw = Callable[[np.random.Generator, int], np.ndarray]
DRAWS: dict[str, Draw] = {
    "normal": lambda rng, count: rng.normal(size=count),
    "exponential": lambda rng, count: rng.exponential(size=count) - 1.0,
}
"""Effects of populations, of mean 0."""


def leads(kind: str, rng: np.random.Generator, seeds: int, populations: int) -> np.ndarray:
    """Return scores of mean 0 that differ by population far more than by seed."""
    by_population, by_seed = DRAWS[kind](rng, populations), rng.normal(0, 0.1, (seeds, 1))
    return by_population + by_seed + rng.normal(0, 0.5, (seeds, populations))


def test_scores_that_differ_by_seed_alone_have_about_the_interval_over_seeds() -> None:
    by_seed = np.random.default_rng(0).normal(0.5, 0.1, (12, 1))
    scores = np.repeat(by_seed, 9, axis=1)
    found = two_way_interval([scores], mean, 0.95)
    assert found == pytest.approx(t_interval(by_seed[:, 0], 0.95), abs=0.01)
    turned = two_way_interval([scores.T], mean, 0.95)
    assert turned == pytest.approx(found, abs=0.01)


def test_both_arrays_of_a_lead_are_resampled_together() -> None:
    first = np.random.default_rng(0).normal(0.5, 0.3, (5, 8))

    def lead(one: np.ndarray, other: np.ndarray) -> np.ndarray:
        return interquartile_mean(one) - interquartile_mean(other)

    assert two_way_interval([first + 0.1, first], lead, 0.95) == pytest.approx((0.1, 0.1))


def test_one_seed_or_one_population_has_no_interval_and_equal_scores_a_point() -> None:
    scores = np.random.default_rng(0).normal(size=(3, 4))
    assert np.isnan(two_way_interval([scores[:1]], mean, 0.95)).all()
    assert np.isnan(two_way_interval([scores[:, :1]], mean, 0.95)).all()
    assert two_way_interval([np.full((3, 4), 0.5)], mean, 0.95) == (0.5, 0.5)
    assert np.isnan(over_populations(np.zeros((3, 4)), 0.95)["wilcoxon_p"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "seeds", "populations", "covers", "over_seeds"),
    [
        ("normal", 7, 14, 0.96, 0.41),
        ("normal", 3, 5, 0.97, 0.67),
        ("exponential", 7, 14, 0.93, 0.44),
        ("exponential", 3, 5, 0.97, 0.72),
    ],
)
def test_the_interval_covers_where_that_over_seeds_does_not(
    kind: str, seeds: int, populations: int, covers: float, over_seeds: float
) -> None:
    rng = np.random.default_rng(0)
    covered = np.zeros(2)
    for _ in range(trials := 200):
        scores = leads(kind, rng, seeds, populations)
        ends = two_way_interval([scores], mean, 0.95), t_interval(scores.mean(axis=1), 0.95)
        covered += [low < 0 < high for low, high in ends]
    assert covered / trials == pytest.approx([covers, over_seeds], abs=0.1)
    assert covered[0] / trials == pytest.approx(covers, abs=0.05)
