"""The leaderboard: normalised scores of designers over populations and training seeds.

Aggregates and intervals follow Agarwal et al. (2021): normalised scores, the interquartile mean
over runs and populations, probability of improvement, performance profiles, and a bootstrap
stratified by population.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import sem, t

from daedalus.evaluation.settings import EvaluationSettings
from daedalus.evaluation.statistics import interquartile_mean, probability_of_improvement
from daedalus.market.seeds import generator

FLOOR, CEILINGS = "random", ("planner", "best_own")
"""The designer whose score is 0, and those of which the better one's is 1."""

REFERENCES = ["informed_greedy", "best_fixed", "distilled", "sft"]
"""Designers with which all others are compared, if they played."""

_BY_SEED: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    "by_seed": interquartile_mean,
    "mean_by_seed": lambda scores: np.asarray(scores.mean(axis=-1)),
}
"""What is compared seed by seed: a seed's IQM or mean over populations."""

Scores = NDArray[np.float64]
"""Normalised scores of a designer, shape (..., seeds, populations)."""


def require_scale(designers: Collection[str]) -> None:
    """Check that the designers that give the scale are there.

    Raises:
        ValueError: Random or a ceiling is missing.
    """
    missing = [name for name in (FLOOR, *CEILINGS) if name not in designers]
    if missing:
        raise ValueError(
            f"designers: {', '.join(missing)} missing; they give the scale, "
            "so add them to evaluation.baselines"
        )


def normalise(scores: pd.DataFrame) -> pd.DataFrame:
    """Add the column ``normalised``: in each population and seed, 0 is random and 1 a ceiling.

    The ceiling is the better of the planner and the best own mechanism. Both know the population:
    one looks ahead in it, the other is searched for it.

    Args:
        scores: A row for each ``seed``, ``population`` and ``designer``, with its ``mean`` reward.

    Raises:
        ValueError: Random or a ceiling is missing, or no ceiling is better than random.
    """
    wide = scores.pivot(index=["seed", "population"], columns="designer", values="mean")
    require_scale(wide.columns)
    ends = pd.DataFrame({"_low": wide[FLOOR], "_high": wide[list(CEILINGS)].max(axis=1)})
    if not (ends["_high"] > ends["_low"]).all():
        raise ValueError("planner: no better than random; give it more futures or candidates")
    joined = scores.join(ends, on=["seed", "population"])
    position = (joined["mean"] - joined["_low"]) / (joined["_high"] - joined["_low"])
    return scores.assign(normalised=position)


def score_array(scores: pd.DataFrame, designer: str) -> Scores:
    """Return a designer's normalised scores, shape (seeds, populations)."""
    mine = scores[scores["designer"] == designer]
    return mine.pivot(index="seed", columns="population", values="normalised").to_numpy(np.float64)


def over_everything(scores: Scores) -> NDArray[np.float64]:
    """Return the interquartile mean over seeds and populations together."""
    return interquartile_mean(scores.reshape(*scores.shape[:-2], -1))


def over_populations(scores: Scores) -> NDArray[np.float64]:
    """Return the mean over seeds and populations."""
    return np.asarray(scores.mean(axis=(-2, -1)))


def in_the_worst(scores: Scores) -> NDArray[np.float64]:
    """Return the lowest of the populations' means over seeds."""
    return np.asarray(scores.mean(axis=-2).min(axis=-1))


def in_the_worst_fifth(scores: Scores) -> NDArray[np.float64]:
    """Return the mean of the lowest fifth of the populations' means over seeds, at least one."""
    means = np.sort(scores.mean(axis=-2), axis=-1)
    return np.asarray(means[..., : max(1, means.shape[-1] // 5)].mean(axis=-1))


def difference(first: Scores, second: Scores) -> NDArray[np.float64]:
    """Return the first's interquartile mean minus the second's."""
    return over_everything(first) - over_everything(second)


def improvement(first: Scores, second: Scores) -> NDArray[np.float64]:
    """Return the mean over populations of P(a seed of the first beats a seed of the second)."""
    return np.asarray(probability_of_improvement(first, second, axis=-2).mean(axis=-1))


def differences_by_seed(
    label: str, gaps: NDArray[np.float64], confidence: float
) -> dict[str, float]:
    """Return the mean of the seeds' differences under its label, and its t interval.

    With few seeds, bootstrap intervals are too narrow; Student's t takes their number into account.

    Args:
        label: Name of the difference.
        gaps: Difference of a seed, shape (seeds,).
        confidence: Coverage of the interval.
    """
    low, high = np.nan, np.nan
    if len(gaps) > 1:
        half = t.ppf(0.5 + confidence / 2, len(gaps) - 1) * sem(gaps)
        low, high = gaps.mean() - half, gaps.mean() + half
    return {label: float(gaps.mean()), f"{label}_low": float(low), f"{label}_high": float(high)}


@dataclass(frozen=True)
class SeedBootstrap:
    """Bootstrap of seeds within each population, with the same draws for all designers.

    Designers share the markets of a seed, so pairing removes the noise of the markets.

    Attributes:
        picks: Seeds of each resample, shape (R, seeds, populations).
        confidence: Coverage of the intervals.
    """

    picks: NDArray[np.integer]
    confidence: float

    @classmethod
    def of(cls, shape: tuple[int, ...], settings: EvaluationSettings, seed: int) -> SeedBootstrap:
        """Draw the resamples for scores of a shape (seeds, populations)."""
        rng = generator(seed, "bootstrap/leaderboard")
        picks = rng.integers(shape[0], size=(settings.resamples, *shape))
        return cls(picks, settings.confidence)

    def resampled(self, scores: Scores) -> Scores:
        """Return the resamples of scores (seeds, populations), shape (R, seeds, populations)."""
        taken: Scores = scores[self.picks, np.arange(scores.shape[1])]
        return taken

    def interval(self, samples: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the ends of the percentile interval, shape (2, ...); NaN with a single seed.

        Args:
            samples: The statistic in each resample, shape (R, ...).
        """
        tail = 50.0 * (1.0 - self.confidence)
        ends = np.percentile(samples, (tail, 100.0 - tail), axis=0)
        return ends if self.picks.shape[1] > 1 else np.full_like(ends, np.nan)

    def estimate(
        self, label: str, statistic: Callable[..., NDArray[np.float64]], *scores: Scores
    ) -> dict[str, float]:
        """Return a statistic of one or more designers' scores under its label, and its interval."""
        low, high = self.interval(statistic(*(self.resampled(each) for each in scores)))
        ends = {f"{label}_low": float(low), f"{label}_high": float(high)}
        return {label: float(statistic(*scores))} | ends


def aggregate(
    scores: pd.DataFrame, references: list[str], settings: EvaluationSettings, seed: int
) -> pd.DataFrame:
    """Describe each designer over seeds and populations.

    Args:
        scores: The frame of ``normalise``, with the share of ``valid`` answers in each row.
        references: Designers with which all are compared, on the same seeds and markets. Those
            that did not play are left out.
        settings: Confidence and number of resamples.
        seed: Seed of the resampling.

    Returns:
        One row for each designer: ``designer``; number of ``seeds``; share of ``valid`` answers,
        and its minimum over seeds and populations, ``least_valid``; ``iqm`` and ``mean`` of
        normalised scores; mean score in the ``worst`` population and in the ``worst_fifth`` of
        them. For each reference: the difference of IQMs ``over_NAME``; the mean over seeds of this
        difference, ``by_seed_over_NAME``, and of that of means, ``mean_by_seed_over_NAME``, with t
        intervals; the lowest difference of a population's mean over seeds, ``worst_over_NAME``; the
        probability of improvement ``beats_NAME``, which is Mann-Whitney's U over pairs of seeds,
        averaged over populations. Estimates have intervals (``iqm_low``,
        ``iqm_high``), which are NaN for a single seed. Resampled minima are too low on average, so
        the intervals of ``worst`` and ``worst_fifth`` are too low.
    """
    names = [str(name) for name in scores["designer"].unique()]
    arrays = {name: score_array(scores, name) for name in names}
    shape = arrays[names[0]].shape
    bootstrap = SeedBootstrap.of(shape, settings, seed)
    played = [reference for reference in references if reference in arrays]
    rows = []
    for name, mine in arrays.items():
        valid = scores.loc[scores["designer"] == name, "valid"]
        row = {"designer": name, "seeds": shape[0]}
        row |= {"valid": valid.mean(), "least_valid": valid.min()}
        row |= bootstrap.estimate("iqm", over_everything, mine)
        row |= bootstrap.estimate("mean", over_populations, mine)
        row |= bootstrap.estimate("worst", in_the_worst, mine)
        row |= bootstrap.estimate("worst_fifth", in_the_worst_fifth, mine)
        for reference in played:
            other = arrays[reference]
            row |= bootstrap.estimate(f"over_{reference}", difference, mine, other)
            for label, statistic in _BY_SEED.items():
                gaps = statistic(mine) - statistic(other)
                row |= differences_by_seed(f"{label}_over_{reference}", gaps, settings.confidence)
            row |= {f"worst_over_{reference}": float(in_the_worst(mine - other))}
            row |= bootstrap.estimate(f"beats_{reference}", improvement, mine, other)
        rows.append(row)
    return pd.DataFrame(rows)


def performance_profile(scores: Scores, thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of seeds and populations that score above each threshold, shape (..., T)."""
    above = [(scores > threshold).mean(axis=(-2, -1)) for threshold in thresholds]
    return np.stack(above, axis=-1)
