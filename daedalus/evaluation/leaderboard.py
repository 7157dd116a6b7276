"""Scores of many designers in many populations, on one scale, over training seeds.

Aggregates and intervals follow Agarwal et al. (2021): normalised scores, the interquartile mean
over runs and populations, and a bootstrap stratified by population.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from daedalus.evaluation.settings import EvaluationSettings
from daedalus.evaluation.statistics import interquartile_mean
from daedalus.market.seeds import generator

FLOOR, CEILING = "random", "planner"
"""Designers whose scores are 0 and 1."""

REFERENCES = ["informed_greedy", "best_fixed"]
"""Designers that every other is compared with."""


def normalise(scores: pd.DataFrame) -> pd.DataFrame:
    """Add the column ``normalised``: 0 is random in that population and seed, 1 the planner.

    Args:
        scores: A row for each ``seed``, ``population`` and ``designer``, with its ``mean`` reward.

    Raises:
        ValueError: Random or the planner did not play, or the planner is no better than random.
    """
    wide = scores.pivot(index=["seed", "population"], columns="designer", values="mean")
    missing = [name for name in (FLOOR, CEILING) if name not in wide]
    if missing:
        raise ValueError(f"designers: {', '.join(missing)} did not play; scores have no scale")
    ends = wide[[FLOOR, CEILING]].rename(columns={FLOOR: "_low", CEILING: "_high"})
    if not (ends["_high"] > ends["_low"]).all():
        raise ValueError("planner: no better than random; give it more futures or candidates")
    joined = scores.join(ends, on=["seed", "population"])
    position = (joined["mean"] - joined["_low"]) / (joined["_high"] - joined["_low"])
    return scores.assign(normalised=position)


def score_array(scores: pd.DataFrame, designer: str) -> NDArray[np.float64]:
    """Return a designer's normalised scores, shape (seeds, populations)."""
    mine = scores[scores["designer"] == designer]
    return mine.pivot(index="seed", columns="population", values="normalised").to_numpy(np.float64)


def aggregate(
    scores: pd.DataFrame, references: list[str], settings: EvaluationSettings, seed: int
) -> pd.DataFrame:
    """Describe each designer over seeds and populations.

    Args:
        scores: The frame of ``normalise``.
        references: Designers that every other is compared with, on the same seeds and markets.
        settings: Confidence and number of resamples.
        seed: Seed of the resampling.

    Returns:
        One row for each designer: ``designer``, number of ``seeds``, ``iqm`` of normalised scores
        with its interval (``iqm_low``, ``iqm_high``), mean score in the ``worst`` population, and
        for each reference the difference of IQMs ``over_NAME`` with its interval. Seeds are
        resampled within each population; intervals of a single seed are NaN.
    """
    names = [str(name) for name in scores["designer"].unique()]
    arrays = {name: score_array(scores, name) for name in names}
    seeds, populations = arrays[names[0]].shape
    rng = generator(seed, "bootstrap/leaderboard")
    picks = rng.integers(seeds, size=(settings.resamples, seeds, populations))
    resampled = {name: _resampled_iqm(each, picks) for name, each in arrays.items()}
    rows = []
    for name in names:
        row = {"designer": name, "seeds": seeds, "iqm": _iqm(arrays[name])}
        row |= _interval("iqm", resampled[name], settings, seeds)
        row["worst"] = float(arrays[name].mean(axis=0).min())
        for reference in references:
            label = f"over_{reference}"
            row[label] = _iqm(arrays[name]) - _iqm(arrays[reference])
            row |= _interval(label, resampled[name] - resampled[reference], settings, seeds)
        rows.append(row)
    return pd.DataFrame(rows)


def performance_profile(
    scores: NDArray[np.float64], thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the share of runs and populations that score above each threshold, shape (T,)."""
    above: NDArray[np.float64] = (scores.ravel()[:, None] > thresholds).mean(axis=0)
    return above


def _iqm(array: NDArray[np.float64]) -> float:
    return float(interquartile_mean(array.ravel()))


def _resampled_iqm(array: NDArray[np.float64], picks: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the IQM of each resample, shape (R,); ``picks`` are seeds, (R, seeds, populations)."""
    taken = array[picks, np.arange(array.shape[1])]
    return interquartile_mean(taken.reshape(len(picks), -1))


def _interval(
    label: str, samples: NDArray[np.float64], settings: EvaluationSettings, seeds: int
) -> dict[str, float]:
    tail = 50.0 * (1.0 - settings.confidence)
    low, high = np.percentile(samples, (tail, 100.0 - tail)) if seeds > 1 else (np.nan, np.nan)
    return {f"{label}_low": float(low), f"{label}_high": float(high)}
