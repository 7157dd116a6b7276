"""Point estimates with intervals, over episodes and over training seeds.

Interquartile mean and probability of improvement are those of Agarwal et al. (2021), "Deep
reinforcement learning at the edge of the statistical precipice", NeurIPS 34. Seeds are few, so
their intervals are Student's t (``t_interval``). Those over episodes depend on their number
(``episode_interval``). Beside each stands what it is over, and whether it may be too short
(``basis``). A confidence, the coverage of an interval, is above 0 and below 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

from daedalus.evaluation.basis import COLUMN, ENOUGH, NONE, basis, noted
from daedalus.evaluation.episodes import COMPOSITE, METRICS
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.market.seeds import generator

Statistic = Callable[..., Any]
"""Takes samples of shape (..., n) and ``axis``; returns estimates of shape (...)."""

LEAST_RESAMPLED, MOST_RESAMPLED = ENOUGH, 1000
"""Sizes of samples that are resampled. A bootstrap of 10 normal values covers 90 %, not 95 %."""

_GROUPS = 100  # of a sample that is larger, for the jackknife


def interquartile_mean(values: NDArray[np.float64], axis: int = -1) -> NDArray[np.float64]:
    """Return the mean without the lowest and highest quarter (IQM in Agarwal et al. 2021).

    Args:
        values: Samples, shape (..., n).
        axis: Axis of the sample; int(n / 4) values are cut at each end.
    """
    return np.asarray(scipy.stats.trim_mean(values, 0.25, axis=axis))


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
    test = scipy.stats.mannwhitneyu(first, second, axis=axis, method="asymptotic")
    wins: NDArray[np.float64] = np.asarray(test.statistic)
    return wins / np.float64(pairs)


def half_width(error: Any, count: Any, confidence: float) -> Any:
    """Return half the width of Student's t interval of a mean.

    Args:
        error: Standard error of the mean, a number or any shape.
        count: Number of values n behind it, of the same shape.
        confidence: Coverage of the interval, above 0 and below 1.

    Returns:
        The half-width, of the same shape; NaN for a single value.
    """
    return scipy.stats.t.ppf(0.5 + confidence / 2.0, np.asarray(count) - 1) * error


def t_interval(values: ArrayLike, confidence: float) -> tuple[float, float]:
    """Return Student's t interval of a mean, for any number of values.

    Args:
        values: Sample, shape (n,).
        confidence: Coverage of the interval, above 0 and below 1.

    Returns:
        Lower and upper end; NaN for a single value, which has no interval.
    """
    sample, half = np.asarray(values, np.float64), t_half_width(values, confidence)
    if np.isnan(half):
        return np.nan, np.nan
    return float(sample.mean()) - half, float(sample.mean()) + half


def t_half_width(values: ArrayLike, confidence: float) -> float:
    """Return half the width of ``t_interval``; NaN for a single value."""
    sample = np.asarray(values, np.float64)
    if len(sample) < 2:
        return np.nan
    return float(half_width(scipy.stats.sem(sample), len(sample), confidence))


def share_interval(share: float, count: int, confidence: float) -> tuple[float, float]:
    """Return the ends of Wilson's interval of a share (Wilson 1927); NaN without trials.

    It also holds the mean of values between 0 and 1, which vary no more than a share does.

    Args:
        share: The share found, in [0, 1].
        count: Number of independent trials n.
        confidence: Coverage of the interval, above 0 and below 1.
    """
    if not count:
        return np.nan, np.nan
    z = scipy.stats.norm.ppf(0.5 + confidence / 2.0)
    shrunk = 1.0 + z**2 / count
    centre = (share + z**2 / (2.0 * count)) / shrunk
    half = z * np.sqrt(share * (1.0 - share) / count + (z / (2.0 * count)) ** 2) / shrunk
    return float(max(centre - half, 0.0)), float(min(centre + half, 1.0))


def interval_row(
    label: str, value: float, ends: tuple[float, float], over: str
) -> dict[str, float | str]:
    """Return a number under its label, with the ends of its interval and what this is over."""
    low, high = ends
    return {label: value, f"{label}_low": low, f"{label}_high": high, f"{label}{COLUMN}": over}


def mean_estimate(
    label: str, values: ArrayLike, confidence: float, unit: str
) -> dict[str, float | str]:
    """Return the mean of values under its label, with its ``t_interval`` and ``basis``.

    Args:
        label: Name of the number.
        values: Sample, shape (n,).
        confidence: Coverage of the interval, above 0 and below 1.
        unit: What a value is of, such as "episode" or "seed".

    Returns:
        The mean; the ends of its interval (``_low``, ``_high``), NaN for a single value; and what
        it is over (``_interval``).
    """
    mean, ends = float(np.asarray(values).mean()), t_interval(values, confidence)
    return interval_row(label, mean, ends, basis(values, unit))


def episode_interval(
    samples: Sequence[NDArray[np.float64]],
    statistic: Statistic,
    settings: EvaluationSettings,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return the interval of a statistic over episodes.

    From ``LEAST_RESAMPLED`` to ``MOST_RESAMPLED`` episodes it is a bootstrap. With fewer, a
    bootstrap is too short: a mean has Student's t interval, other statistics have none. With more,
    a bootstrap takes minutes and says the same as the t interval of jackknife values (Tukey 1958).

    Args:
        samples: Samples of one size n, at least 2; several are paired by index.
        statistic: Function of the samples and ``axis``.
        settings: Confidence and number of resamples.
        rng: Draws the resamples.

    Returns:
        Lower and upper end; NaN if there is no interval.
    """
    count = len(samples[0])
    if count > MOST_RESAMPLED:
        return t_interval(_jackknife_values(samples, statistic), settings.confidence)
    if count >= LEAST_RESAMPLED:
        return _bootstrap_interval(samples, statistic, settings, rng)
    return t_interval(samples[0], settings.confidence) if statistic is np.mean else (np.nan, np.nan)


def estimate(
    label: str,
    samples: Sequence[NDArray[np.float64]],
    statistic: Statistic,
    settings: EvaluationSettings,
    rng: np.random.Generator,
) -> dict[str, float | str]:
    """Return a statistic over episodes under its label, with its ``episode_interval``.

    What the interval is over stands in ``_interval``, see ``basis``.
    """
    ends = episode_interval(samples, statistic, settings, rng)
    return interval_row(label, float(statistic(*samples)), ends, _basis_of(samples, statistic))


def _basis_of(samples: Sequence[NDArray[np.float64]], statistic: Statistic) -> str:
    """Return the ``basis`` of a statistic; those that no single value moves much have no word."""
    if statistic is np.mean:
        return basis(samples[0], "episode")
    count = len(samples[0])
    return noted(count, "episode", NONE if count < LEAST_RESAMPLED else "")


def _jackknife_values(
    samples: Sequence[NDArray[np.float64]], statistic: Statistic
) -> NDArray[np.float64]:
    """Return what each group of values adds to a statistic, shape (groups,)."""
    groups = np.array_split(np.arange(len(samples[0])), _GROUPS)
    without = [statistic(*(np.delete(each, group) for each in samples)) for group in groups]
    return np.asarray(_GROUPS * statistic(*samples) - (_GROUPS - 1) * np.array(without))


def _bootstrap_interval(
    samples: Sequence[NDArray[np.float64]],
    statistic: Statistic,
    settings: EvaluationSettings,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return the bias-corrected and accelerated (BCa) bootstrap interval (Efron 1987).

    BCa is undefined if no single value changes the statistic, as in a constant sample, or if all
    values of one sample are above another. Then this is the percentile interval of the same
    resamples; for a constant sample it is the value itself.
    """
    bootstrap: Callable[..., Any] = partial(
        scipy.stats.bootstrap,
        samples,
        statistic,
        confidence_level=settings.confidence,
        paired=len(samples) > 1,
        batch=1000,  # bounds memory
    )
    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", scipy.stats.DegenerateDataWarning)
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
        ``mean`` and ``iqm`` of the reward with intervals (``_low``, ``_high``, see
        ``episode_interval``) and what these are over (``_interval``, see ``basis``); the reward's
        ``median``, ``iqr`` and sample ``std``; and the mean of each other metric under its name.
    """
    groups = episodes.groupby("designer", sort=False)
    return pd.DataFrame([_summary_row(str(name), each, settings, seed) for name, each in groups])


_PAIRED = [
    *("designer", "reference"),
    *(f"difference{end}" for end in ("", "_low", "_high", COLUMN)),
    *(f"probability_of_improvement{end}" for end in ("", "_low", "_high", COLUMN)),
    "improves",
]


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
        with its interval (``difference_low``, ``difference_high``, ``difference_interval`` as in
        ``basis``), ``probability_of_improvement`` with its interval (``..._low``, ``..._high``,
        ``..._interval``), and whether the designer ``improves``, that
        is, whether the interval of the difference lies above 0. This is over the episodes of one
        seed; it says nothing about designers that other seeds train.

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
    rows = [_difference_row(rewards, name, reference, settings, seed) for name in others]
    return pd.DataFrame(rows, columns=_PAIRED)


def all_differences(
    episodes: pd.DataFrame, references: Sequence[str], settings: EvaluationSettings, seed: int
) -> pd.DataFrame:
    """Return ``paired_differences`` from each reference in turn, with each pair once."""
    tables = [pd.DataFrame(columns=_PAIRED)] if not references else []
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
        row |= estimate(label, [reward], statistic, settings, rng)
    row["median"] = float(np.median(reward))
    row["iqr"] = float(scipy.stats.iqr(reward))
    row["std"] = float(np.std(reward, ddof=1))
    metrics = [*METRICS[1:], *({COMPOSITE} & set(group))]
    return row | {metric: group[metric].mean() for metric in metrics}


def _difference_row(
    rewards: pd.DataFrame, name: str, reference: str, settings: EvaluationSettings, seed: int
) -> dict[str, Any]:
    first, second = rewards[name].to_numpy(np.float64), rewards[reference].to_numpy(np.float64)
    pair = {"designer": name, "reference": reference}
    rng = generator(seed, f"bootstrap/difference/{name}/{reference}")
    lead = estimate("difference", [first - second], np.mean, settings, rng)
    rng = generator(seed, f"bootstrap/probability/{name}/{reference}")
    wins, compared = "probability_of_improvement", [first, second]
    likely = estimate(wins, compared, probability_of_improvement, settings, rng)
    return pair | lead | likely | {"improves": float(lead["difference_low"]) > 0.0}
