"""Intervals of means over populations, which differ as seeds do.

An interval over seeds says what other seeds would give in the same populations. That of a claim
about populations in general resamples both: seeds and populations are drawn with replacement,
independently (the pigeonhole bootstrap, Owen 2007). Percentiles of so few are too short, so their
distances from the mean are stretched as Student's t is wider than the normal bootstrap: by
t(f) sqrt(1 + 1/f) / z, with Satterthwaite's degrees of freedom f.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
import scipy
from numpy.typing import NDArray

from daedalus.evaluation.statistics import t_half_width
from daedalus.market.seeds import generator

Scores = NDArray[np.float64]
"""Numbers of seeds in populations, shape (seeds, populations)."""

PerSeed = Callable[..., NDArray[np.float64]]
"""Takes scores of shape (..., seeds, populations); returns a number of each seed (..., seeds)."""

_BATCHES, _BATCH = 5, 1000  # resamples; those of a batch are drawn at once


def two_way_interval(
    scores: Sequence[Scores], statistic: PerSeed, confidence: float
) -> tuple[float, float]:
    """Return the interval over seeds and populations of the mean over seeds of a statistic.

    Args:
        scores: Scores of one shape (seeds, populations); several are paired.
        statistic: Number of each seed, from one array for each of ``scores``.
        confidence: Coverage of the interval, above 0 and below 1.

    Returns:
        Lower and upper end; NaN for a single seed or a single population.
    """
    if min(scores[0].shape) < 2:
        return np.nan, np.nan
    rng = generator(0, "bootstrap/two_way")  # the same draws for all, so differences are paired
    resamples = [_resampled(scores, statistic, rng) for _ in range(_BATCHES)]
    tail, mean = 0.5 - confidence / 2.0, float(statistic(*scores).mean())
    ends = np.quantile(np.concatenate(resamples), [tail, 1.0 - tail])
    freedom = _degrees_of_freedom(reduce(np.subtract, scores))
    low, high = mean + _stretch(freedom, tail) * (ends - mean)
    return float(low), float(high)


def over_populations(scores: Scores, confidence: float) -> dict[str, float]:
    """Return what the mean of each population says of a mean over populations.

    Args:
        scores: Scores of shape (seeds, populations).
        confidence: Coverage of the interval, above 0 and below 1.

    Returns:
        The ``median`` of the populations, half the width of Student's t interval over them
        (``half_width_over_populations``; NaN for one), and ``wilcoxon_p``, the two-sided p of
        Wilcoxon's signed-rank test against 0 (NaN if all are 0).
    """
    means = scores.mean(axis=0)
    return {
        "half_width_over_populations": t_half_width(means, confidence),
        "median": float(np.median(means)),
        "wilcoxon_p": float(scipy.stats.wilcoxon(means).pvalue) if means.any() else np.nan,
    }


def _resampled(
    scores: Sequence[Scores], statistic: PerSeed, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return the statistic's mean over seeds in new draws of both, shape (_BATCH,)."""
    seeds, populations = scores[0].shape
    rows = rng.integers(seeds, size=(_BATCH, seeds, 1))
    columns = rng.integers(populations, size=(_BATCH, 1, populations))
    return np.asarray(statistic(*(each[rows, columns] for each in scores)).mean(axis=-1))


def _degrees_of_freedom(scores: Scores) -> float:
    """Return Satterthwaite's degrees of freedom of the mean; infinity if nothing varies."""
    seeds, populations = scores.shape
    by_seed = scores.mean(axis=1, keepdims=True) - scores.mean()
    by_population = scores.mean(axis=0, keepdims=True) - scores.mean()
    rest = scores - scores.mean() - by_seed - by_population
    squares = (
        populations * (by_seed**2).sum() / (seeds - 1),
        seeds * (by_population**2).sum() / (populations - 1),
        (rest**2).sum() / ((seeds - 1) * (populations - 1)),
    )
    variance = max(squares[0] + squares[1] - squares[2], squares[0], squares[1])
    freedoms = (seeds - 1, populations - 1, (seeds - 1) * (populations - 1))
    error = sum(each**2 / free for each, free in zip(squares, freedoms, strict=True))
    return float(variance**2 / error) if error > 0 else np.inf


def _stretch(freedom: float, tail: float) -> float:
    """Return t(f) sqrt(1 + 1/f) / z, by which a bootstrap of normal values is too short."""
    if np.isinf(freedom):
        return 1.0
    wider = scipy.stats.t.ppf(tail, freedom) / scipy.stats.norm.ppf(tail)
    return float(wider * np.sqrt(1.0 + 1.0 / freedom))
