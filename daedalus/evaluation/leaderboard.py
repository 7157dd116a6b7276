"""The leaderboard: normalised scores of designers over populations and training seeds.

Aggregates follow Agarwal et al. (2021): normalised scores, the interquartile mean, probability of
improvement and performance profiles. Each aggregate is computed for each seed, over its
populations. Means over populations speak of populations in general, so their intervals are over
seeds and populations (``two_way``). The worst populations are those of the table, so their
intervals are Student's t over seeds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from daedalus.evaluation.basis import NONE, counted
from daedalus.evaluation.statistics import (
    interquartile_mean,
    interval_row,
    mean_estimate,
    probability_of_improvement,
    t_half_width,
)
from daedalus.evaluation.two_way import PerSeed, Scores, over_populations, two_way_interval

FLOOR, CEILINGS = "random", ("planner", "best_own")
"""The designer whose score is 0, and those of which the better one's is 1."""

REFERENCES = ["informed_greedy", "best_fixed", "distilled", "sft"]
"""Designers with which all others are compared, if they played."""


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
    looks ahead in it, the other is searched for it. Scores have a row for each ``seed``,
    ``population`` and ``designer``, with its ``mean`` reward.

    Raises:
        ValueError: Random or a ceiling is missing, or no ceiling is better than random.
    """
    wide = scores.pivot(index=["seed", "population"], columns="designer", values="mean")
    require_scale(wide.columns)
    ends = pd.DataFrame({"_low": wide[FLOOR], "_high": wide[list(CEILINGS)].max(axis=1)})
    flat = ends[~(ends["_high"] > ends["_low"])]
    if len(flat):
        (seed, population), (low, high) = flat.index[0], flat.iloc[0]
        raise ValueError(
            f"{population}, seed {seed}: planner and best_own ({high:.4f}) are no better than "
            f"random ({low:.4f}); give them more futures or candidates, or leave it out"
        )
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


def _arrays(scores: pd.DataFrame) -> dict[str, Scores]:
    """Return the scores of each designer, in order of appearance."""
    names = [str(name) for name in scores["designer"].unique()]
    return {name: score_array(scores, name) for name in names}


def in_the_worst(scores: Scores) -> NDArray[np.float64]:
    """Return each seed's lowest score of a population, shape (seeds,)."""
    return np.asarray(scores.min(axis=-1))


def in_the_worst_fifth(scores: Scores) -> NDArray[np.float64]:
    """Return each seed's mean over the lowest fifth of its populations, at least one."""
    return np.asarray(np.sort(scores)[:, : max(1, scores.shape[1] // 5)].mean(axis=1))


_Number = tuple[PerSeed, list[Scores]]  # a statistic, and the scores of which it is one

_OF_THE_TABLE = (in_the_worst, in_the_worst_fifth)
"""Numbers of a few populations of the table, which say nothing of others."""


def improvement(first: Scores, second: Scores) -> float:
    """Return the mean over populations of P(a seed of the first beats a seed of the second)."""
    return float(probability_of_improvement(first, second, axis=0).mean())


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
        one in such a population. Then means over seeds, with intervals (``iqm_low``,
        ``iqm_high``), NaN for a single seed, and what these are over (``iqm_interval``): ``iqm``
        and ``mean`` over populations; score in a seed's ``worst`` population and in the
        ``worst_fifth`` of
        them; and for each reference the difference of the seed's IQMs ``over_NAME``, of its means
        ``mean_over_NAME``, and the lowest difference in a population ``worst_over_NAME``. Those of
        ``worst`` populations are over seeds, the others over seeds and populations. Last, the
        probability of improvement ``beats_NAME``, which is Mann-Whitney's U over pairs of seeds,
        averaged over populations; it has no interval, since a few seeds may all be on one side.
    """
    arrays = _arrays(scores)
    against = {name: arrays[name] for name in references if name in arrays}
    rows = []
    for name, mine in arrays.items():
        valid = scores.loc[scores["designer"] == name, "valid"]
        row = {"designer": name, "seeds": len(mine)}
        row |= {"valid": valid.mean(), "least_valid": valid.min()}
        if "ex_post_regret" in scores:
            row["ex_post_regret"] = _mean_regret(scores, name)
        for label, (statistic, compared) in _numbers(mine, against).items():
            row |= _estimate(label, statistic, compared, confidence)
        beats = {f"beats_{each}": improvement(mine, other) for each, other in against.items()}
        rows.append(row | beats)
    return pd.DataFrame(rows)


def _mean_regret(scores: pd.DataFrame, designer: str) -> float:
    """Return the mean ex-post regret of a designer; NaN if it lacks one where others have one."""
    measured = scores.groupby(["seed", "population"])["ex_post_regret"].transform("count") > 0
    own = scores.loc[measured & (scores["designer"] == designer), "ex_post_regret"]
    return np.nan if own.isna().any() else float(own.mean())


def _numbers(mine: Scores, references: Mapping[str, Scores]) -> dict[str, _Number]:
    """Return the numbers of each seed that ``aggregate`` averages, by their labels."""
    numbers: dict[str, _Number] = {
        "iqm": (interquartile_mean, [mine]),
        "mean": (_mean, [mine]),
        "worst": (in_the_worst, [mine]),
        "worst_fifth": (in_the_worst_fifth, [mine]),
    }
    for name, other in references.items():
        numbers[f"over_{name}"] = (_lead_of_iqms, [mine, other])
        numbers[f"mean_over_{name}"] = (_mean, [mine - other])
        numbers[f"worst_over_{name}"] = (in_the_worst, [mine - other])
    return numbers


def _mean(scores: Scores) -> NDArray[np.float64]:
    return np.asarray(scores.mean(axis=-1))


def _lead_of_iqms(mine: Scores, other: Scores) -> NDArray[np.float64]:
    return interquartile_mean(mine) - interquartile_mean(other)


def _estimate(
    label: str, statistic: PerSeed, scores: list[Scores], confidence: float
) -> dict[str, Any]:
    """Return the mean over seeds of a statistic, its interval, and what this is over."""
    values = statistic(*scores)
    if statistic in _OF_THE_TABLE:
        return mean_estimate(label, values, confidence, "seed")
    ends = two_way_interval(scores, statistic, confidence)
    seeds, populations = scores[0].shape
    over = f"{counted(seeds, 'seed')} and {counted(populations, 'population')}"
    over += f", {NONE}" if np.isnan(ends[0]) else ""
    return interval_row(label, float(values.mean()), ends, over)


def three_intervals(scores: pd.DataFrame, references: list[str], confidence: float) -> pd.DataFrame:
    """Return how sure each mean over populations is, over seeds, over populations and over both.

    Args:
        scores: The frame of ``normalise``.
        references: Designers with which all are compared. Those that did not play are left out.
        confidence: Coverage of the intervals.

    Returns:
        A row for each ``designer`` and ``number``: its ``mean`` score, and its mean lead over each
        other reference, as ``mean_over_NAME``. Then the number of ``seeds`` and ``populations``,
        the ``value`` with the interval over both (``value_low``, ``value_high``,
        ``value_interval``), half the widths of Student's t intervals over seeds and over
        populations alone (``half_width_over_seeds``, ``half_width_over_populations``), and for a
        lead the ``median`` and ``wilcoxon_p`` of ``over_populations``. What one seed or one
        population cannot tell is NaN.
    """
    arrays = _arrays(scores)
    rows = []
    for name, mine in arrays.items():
        others = [each for each in references if each in arrays and each != name]
        leads = {f"mean_over_{each}": mine - arrays[each] for each in others}
        for number, array in ({"mean": mine} | leads).items():
            row: dict[str, Any] = {"designer": name, "number": number, "seeds": len(array)}
            row |= {"populations": array.shape[1]} | _estimate("value", _mean, [array], confidence)
            row["half_width_over_seeds"] = t_half_width(array.mean(axis=1), confidence)
            rows.append(row | over_populations(array, confidence))
    return pd.DataFrame(rows)


def performance_profile(scores: Scores, thresholds: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each seed's share of populations with a score above a threshold, shape (seeds, T)."""
    return np.asarray((scores[:, :, None] > thresholds).mean(axis=1))
