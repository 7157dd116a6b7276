"""What an interval is over, in words that stand beside it, and whether it may be too short.

A number X with its interval (``X_low``, ``X_high``) has these words in the column ``X_interval``.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable

import numpy as np
import pandas as pd
import scipy
from numpy.typing import ArrayLike, NDArray

COLUMN = "_interval"
"""Ending of the column that says what an interval is over."""

ENOUGH = 20
"""Values from which a sample shows whether it is skewed."""

FEW, SKEWED, NONE = "few", "skewed", "none"
"""Words of an interval that may cover less often than it says, and of one that is not there."""

CAUTIONS = {
    FEW: f"few: fewer than {ENOUGH} values, so the interval is too short if they are skewed",
    SKEWED: "skewed: a few values weigh so much that the interval is too short",
}
"""What the words beside an interval mean."""

_SKEW = 25.0  # values for each unit of squared skewness (Cochran's rule)


def counted(count: int, unit: str) -> str:
    """Return a number with its unit: 1 seed, 2 seeds."""
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"


def basis(values: ArrayLike, unit: str) -> str:
    """Return what the interval of a mean is over, and a word if it may be too short.

    The interval of a mean of few skewed values covers 80 to 90 % where it says 95 %, and few values
    do not show that they are skewed. So fewer than ``ENOUGH`` values are ``FEW``. More are
    ``SKEWED`` if they are fewer than 25 times their squared skewness (Cochran 1977, "Sampling
    techniques", section 2.15).

    Args:
        values: Sample, shape (n,).
        unit: What a value is of, such as "episode". Seeds are always few, and have no such word.

    Returns:
        Text such as "30 episodes", "8 episodes, few" or "5 seeds".
    """
    sample = np.asarray(values, np.float64)
    if len(sample) < 2:
        return noted(len(sample), unit, NONE)
    if unit == "seed":
        return noted(len(sample), unit)
    if len(sample) < ENOUGH:
        return noted(len(sample), unit, FEW)
    skewed = len(sample) < _SKEW * _skewness(sample) ** 2
    return noted(len(sample), unit, SKEWED if skewed else "")


def noted(count: int, unit: str, word: str = "") -> str:
    """Return what an interval is over with its word, such as "8 episodes, few"."""
    return f"{counted(count, unit)}, {word}" if word else counted(count, unit)


def _skewness(sample: NDArray[np.float64]) -> float:
    """Return the skewness of a sample; NaN if its values are equal but for rounding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # equal values
        return float(scipy.stats.skew(sample, bias=False))


def caution(text: object) -> str:
    """Return the word of an interval that may be too short, from its ``basis``, or ""."""
    word = str(text).rpartition(", ")[2]
    return word if word in CAUTIONS else ""


def reading(frame: pd.DataFrame) -> str:
    """Return what the intervals of a table are over, and what the words beside them mean.

    Numbers without an interval are left out; "" if there is none, or nothing tells.
    """
    names: dict[str, list[str]] = {}
    texts: list[str] = []
    for column in frame.columns:
        if {f"{column}_low", f"{column}{COLUMN}"} <= set(frame.columns):
            shown = frame.loc[frame[f"{column}_low"].notna(), f"{column}{COLUMN}"]
            texts += list(shown)
            over = " or ".join(dict.fromkeys(text.partition(", ")[0] for text in shown))
            names.setdefault(over, []).append(str(column).replace("_", " "))
    names.pop("", None)
    if len(names) == 1:
        names = {over: ["intervals"] for over in names}
    parts = [f"{', '.join(each)} over {over}" for over, each in names.items()]
    return " · ".join([*parts, *cautions(texts)])


def over_episodes(counts: ArrayLike, confidence: float) -> str:
    """Return what a figure says of intervals of means of which it knows the number of values.

    Args:
        counts: Number of episodes of each interval.
        confidence: Coverage of the intervals.
    """
    text = f"{100 * confidence:g} % t intervals over episodes"
    few = [noted(0, "episode", FEW)] if (np.asarray(counts) < ENOUGH).any() else []
    return "\n".join([text, *cautions(few)])


def cautions(texts: Iterable[object]) -> list[str]:
    """Return what the words in some texts of ``basis`` mean, each once."""
    words = {caution(text) for text in texts}
    return [meaning for word, meaning in CAUTIONS.items() if word in words]
