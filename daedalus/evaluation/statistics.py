"""Point estimates with bootstrap intervals, for comparisons of few runs.

Interquartile mean and probability of improvement are those of Agarwal et al. (2021), "Deep
reinforcement learning at the edge of the statistical precipice", NeurIPS 34. The intervals are
bias-corrected and accelerated bootstraps (Efron 1987).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from daedalus.evaluation.episodes import METRICS, OBJECTIVE
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.market.seeds import generator

Statistic = Callable[..., Any]
"""Takes samples of shape (..., n) and ``axis``; returns estimates of shape (...)."""

_BATCH = 1000  # resamples evaluated at once, to bound memory


def interquartile_mean(values: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    """Return the mean without the lowest and highest quarter (IQM in Agarwal et al. 2021).

    Args:
        values: Samples, shape (..., n).
        axis: Axis of the sample; int(n / 4) values are cut at each end.
    """
    return np.asarray(stats.trim_mean(values, 0.25, axis=axis))


def probability_of_improvement(
    first: NDArray[np.float64], second: NDArray[np.float64], axis: int = -1
) -> NDArray[np.float64]:
    """Return P(X > Y) + P(X = Y) / 2 over all pairs (Agarwal et al. 2021).

    This is the Mann-Whitney U of X over the number of pairs.

    Args:
        first: Sample of X, shape (..., n).
        second: Sample of Y, shape (..., m).
        axis: Axis of the samples.

    Returns:
        Probabilities of shape (...), in [0, 1]; 0.5 for two equal samples.
    """
    pairs = first.shape[axis] * second.shape[axis]
    test = stats.mannwhitneyu(first, second, axis=axis, method="asymptotic")
    wins: NDArray[np.float64] = np.asarray(test.statistic)
    return wins / np.float64(pairs)


def bootstrap_interval(
    samples: Sequence[NDArray[np.float64]],
    statistic: Statistic,
    settings: EvaluationSettings,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return the BCa bootstrap interval of a statistic.

    BCa is undefined if no single value changes the statistic, as in a constant sample, or if all
    values of one sample are above another. Then this is the percentile interval of the same
    resamples; for a constant sample it is the value itself.

    Args:
        samples: Samples of one size n; several are resampled together, paired by index.
        statistic: Function of the samples and ``axis``.
        settings: Confidence and number of resamples.
        rng: Draws the resamples.

    Returns:
        Lower and upper end.
    """
    bootstrap: Callable[..., Any] = partial(
        stats.bootstrap,
        samples,
        statistic,
        confidence_level=settings.confidence,
        paired=len(samples) > 1,
        batch=_BATCH,
    )
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        result = bootstrap(n_resamples=settings.resamples, rng=rng, method="BCa")
    if not np.isfinite(result.confidence_interval).all():
        result = bootstrap(n_resamples=0, bootstrap_result=result, method="percentile")
    low, high = result.confidence_interval
    return float(low), float(high)


def summarise(episodes: pd.DataFrame, settings: EvaluationSettings, seed: int) -> pd.DataFrame:
    """Summarise each designer's reward over episodes.

    Args:
        episodes: The frame of ``episode_means``.
        settings: Confidence and number of resamples.
        seed: Seed of the resampling.

    Returns:
        One row for each designer, in order of appearance: ``designer``; number of ``episodes``;
        ``mean`` and ``iqm`` of the reward with intervals (``_low``, ``_high``), its ``median``,
        ``iqr`` and sample ``std``; and the mean of each other metric under its name.
    """
    groups = episodes.groupby("designer", sort=False)
    return pd.DataFrame([_summary_row(str(name), each, settings, seed) for name, each in groups])


def paired_differences(
    episodes: pd.DataFrame, reference: str, settings: EvaluationSettings, seed: int
) -> pd.DataFrame:
    """Compare all other designers with one reference, episode by episode.

    Args:
        episodes: The frame of ``episode_means``.
        reference: The designer to compare with.
        settings: Confidence and number of resamples.
        seed: Seed of the resampling.

    Returns:
        One row for each other designer: ``designer``, ``reference``, mean ``difference`` in reward
        with its interval (``difference_low``, ``difference_high``), ``probability_of_improvement``
        with its interval (``..._low``, ``..._high``), and whether the designer ``improves``, that
        is, whether the interval of the difference lies above 0.

    Raises:
        ValueError: The reference is missing, or the designers did not play the same episodes.
    """
    rewards = episodes.pivot(index="episode", columns="designer", values="reward")
    names = [str(name) for name in episodes["designer"].unique()]
    if reference not in names:
        raise ValueError(f"reference: {reference!r}; choose one of {', '.join(names)}")
    unpaired = [name for name in names if rewards[name].isna().any()]
    if unpaired:
        raise ValueError(f"episodes: {', '.join(unpaired)} did not play all episodes of the others")
    others = [name for name in names if name != reference]
    columns = [
        "designer",
        "reference",
        "difference",
        "difference_low",
        "difference_high",
        "probability_of_improvement",
    ]
    columns += ["probability_of_improvement_low", "probability_of_improvement_high", "improves"]
    rows = [_difference_row(rewards, name, reference, settings, seed) for name in others]
    return pd.DataFrame(rows, columns=columns)


def all_differences(
    episodes: pd.DataFrame, references: Sequence[str], settings: EvaluationSettings, seed: int
) -> pd.DataFrame:
    """Return ``paired_differences`` from each reference in turn, with each pair once.

    Args:
        episodes: The frame of ``episode_means``.
        references: Designers to compare with. Each is left out after its own comparisons.
        settings: Confidence and number of resamples.
        seed: Seed of the resampling.
    """
    tables = []
    for number, reference in enumerate(references):
        rest = episodes[~episodes["designer"].isin(references[:number])]
        tables.append(paired_differences(rest, reference, settings, seed))
    return pd.concat(tables, ignore_index=True)


def _summary_row(
    name: str, group: pd.DataFrame, settings: EvaluationSettings, seed: int
) -> dict[str, Any]:
    reward = group["reward"].to_numpy(np.float64)
    row: dict[str, Any] = {"designer": name, "episodes": len(reward)}
    for label, statistic in (("mean", np.mean), ("iqm", interquartile_mean)):
        rng = generator(seed, f"bootstrap/{label}/{name}")
        row[label] = float(statistic(reward))
        row[f"{label}_low"], row[f"{label}_high"] = bootstrap_interval(
            [reward], statistic, settings, rng
        )
    row["median"] = float(np.median(reward))
    row["iqr"] = float(stats.iqr(reward))
    row["std"] = float(np.std(reward, ddof=1))
    metrics = [*METRICS[1:], *({OBJECTIVE} & set(group))]
    return row | {metric: group[metric].mean() for metric in metrics}


def _difference_row(
    rewards: pd.DataFrame, name: str, reference: str, settings: EvaluationSettings, seed: int
) -> dict[str, Any]:
    first, second = rewards[name].to_numpy(np.float64), rewards[reference].to_numpy(np.float64)
    difference = first - second
    purpose = f"{name}/{reference}"
    low, high = bootstrap_interval(
        [difference], np.mean, settings, generator(seed, f"bootstrap/difference/{purpose}")
    )
    probability_low, probability_high = bootstrap_interval(
        [first, second],
        probability_of_improvement,
        settings,
        generator(seed, f"bootstrap/probability/{purpose}"),
    )
    return {
        "designer": name,
        "reference": reference,
        "difference": float(difference.mean()),
        "difference_low": low,
        "difference_high": high,
        "probability_of_improvement": float(probability_of_improvement(first, second)),
        "probability_of_improvement_low": probability_low,
        "probability_of_improvement_high": probability_high,
        "improves": low > 0.0,
    }
