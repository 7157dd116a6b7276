"""The leaderboard: normalised scores of designers over populations and training seeds.

Aggregates follow Agarwal et al. (2021): normalised scores, the interquartile mean, probability of
improvement and performance profiles. Seeds are few, so that a bootstrap of them would be too short.
Each aggregate is computed for each seed, over its populations; the mean over seeds has Student's t
interval.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from daedalus.evaluation.statistics import (
    interquartile_mean,
    probability_of_improvement,
    t_interval,
)

FLOOR, CEILINGS = "random", ("planner", "best_own")
"""The designer whose score is 0, and those of which the better one's is 1."""

REFERENCES = ["informed_greedy", "best_fixed", "distilled", "sft"]
"""Designers with which all others are compared, if they played."""

Scores = NDArray[np.float64]
"""Normalised scores of a designer, shape (seeds, populations)."""


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
    """Add the column ``normalised``: 0 is random, and 1 the better of planner and best own.

    The two ends belong to each population and seed. Planner and best own know the population: one
    looks ahead in it, the other is searched for it.

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


def in_all_populations(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of designers that played in every population, as aggregates need them."""
    played = scores.groupby("designer")["population"].transform("nunique")
    return scores[played == scores["population"].nunique()]


def score_array(scores: pd.DataFrame, designer: str) -> Scores:
    """Return a designer's normalised scores, shape (seeds, populations)."""
    mine = scores[scores["designer"] == designer]
    return mine.pivot(index="seed", columns="population", values="normalised").to_numpy(np.float64)


def in_the_worst(scores: Scores) -> NDArray[np.float64]:
    """Return each seed's lowest score of a population, shape (seeds,)."""
    return np.asarray(scores.min(axis=1))


def in_the_worst_fifth(scores: Scores) -> NDArray[np.float64]:
    """Return each seed's mean over the lowest fifth of its populations, at least one."""
    return np.asarray(np.sort(scores)[:, : max(1, scores.shape[1] // 5)].mean(axis=1))


def improvement(first: Scores, second: Scores) -> float:
    """Return the mean over populations of P(a seed of the first beats a seed of the second)."""
    return float(probability_of_improvement(first, second, axis=0).mean())


def over_seeds(label: str, values: NDArray[np.float64], confidence: float) -> dict[str, float]:
    """Return the mean over seeds under its label, and its t interval; NaN with a single seed.

    Args:
        label: Name of the number.
        values: The number of each seed, shape (seeds,).
        confidence: Coverage of the interval.
    """
    low, high = t_interval(values, confidence)
    return {label: float(values.mean()), f"{label}_low": low, f"{label}_high": high}


def aggregate(scores: pd.DataFrame, references: list[str], confidence: float) -> pd.DataFrame:
    """Describe each designer over seeds and populations.

    Args:
        scores: The frame of ``normalise``, with the share of ``valid`` answers in each row, and
            perhaps ``ex_post_regret``, what truthful bidders lose in a sale under the mechanisms
            that were chosen.
        references: Designers with which all are compared, on the same seeds and markets. Those
            that did not play are left out.
        confidence: Coverage of the intervals.

    Returns:
        One row for each designer: ``designer``; number of ``seeds``; share of ``valid`` answers,
        and its minimum over seeds and populations, ``least_valid``; if it was measured, the mean
        ``ex_post_regret`` over seeds and the populations that have one, NaN if only others have
        one in such a population. Then means over seeds, with t
        intervals (``iqm_low``, ``iqm_high``) that are NaN for a single seed: ``iqm`` and ``mean``
        over populations; score in a seed's ``worst`` population and in the ``worst_fifth`` of
        them; and for each reference the difference of the seed's IQMs ``over_NAME``, of its means
        ``mean_over_NAME``, and the lowest difference in a population ``worst_over_NAME``. Last, the
        probability of improvement ``beats_NAME``, which is Mann-Whitney's U over pairs of seeds,
        averaged over populations; it has no interval, since a few seeds may all be on one side.
    """
    names = [str(name) for name in scores["designer"].unique()]
    arrays = {name: score_array(scores, name) for name in names}
    played = [reference for reference in references if reference in arrays]
    rows = []
    for name, mine in arrays.items():
        valid = scores.loc[scores["designer"] == name, "valid"]
        row = {"designer": name, "seeds": len(mine)}
        row |= {"valid": valid.mean(), "least_valid": valid.min()}
        if "ex_post_regret" in scores:
            row["ex_post_regret"] = _mean_regret(scores, name)
        numbers = _numbers_of_seeds(mine, {each: arrays[each] for each in played})
        for label, values in numbers.items():
            row |= over_seeds(label, values, confidence)
        rows.append(row | {f"beats_{each}": improvement(mine, arrays[each]) for each in played})
    return pd.DataFrame(rows)


def _mean_regret(scores: pd.DataFrame, designer: str) -> float:
    """Return the mean ex-post regret of a designer; NaN if it lacks one where others have one."""
    measured = scores.groupby(["seed", "population"])["ex_post_regret"].transform("count") > 0
    own = scores.loc[measured & (scores["designer"] == designer), "ex_post_regret"]
    return np.nan if own.isna().any() else float(own.mean())


def _numbers_of_seeds(
    mine: Scores, references: Mapping[str, Scores]
) -> dict[str, NDArray[np.float64]]:
    """Return the numbers of each seed that ``aggregate`` averages, by their labels."""
    numbers = {
        "iqm": interquartile_mean(mine),
        "mean": mine.mean(axis=1),
        "worst": in_the_worst(mine),
        "worst_fifth": in_the_worst_fifth(mine),
    }
    for name, other in references.items():
        numbers[f"over_{name}"] = numbers["iqm"] - interquartile_mean(other)
        numbers[f"mean_over_{name}"] = (mine - other).mean(axis=1)
        numbers[f"worst_over_{name}"] = in_the_worst(mine - other)
    return numbers


def performance_profile(scores: Scores, thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each seed's share of populations with a score above a threshold, shape (seeds, T)."""
    return np.asarray((scores[:, :, None] > thresholds).mean(axis=1))
