"""The figure of a study: the scores of its trials."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from daedalus.evaluation.figures import FAINT, empty_panels, entitle, palette

_TRIAL, _OWN = palette(["trained", "informed_greedy"]).values()


def history(table: pd.DataFrame, score: str) -> Figure:
    """Draw the score of each trial and the best so far, and mark the trials without a score.

    Args:
        table: The table of a study, with one finished trial or more.
        score: Label of the scores.
    """
    figure, (axes,) = empty_panels(1, 1, (7.2, 4.2))
    finished, stopped = table[table["score"].notna()], table[table["score"].isna()]
    best = table["score"].cummax().ffill()
    axes.step(table["trial"], best, where="post", color=_TRIAL, lw=1.6)
    axes.plot(finished["trial"], finished["score"], "o", color=_TRIAL, ms=5, alpha=0.7)
    own = finished[finished["trial"] == 0]
    if len(own):
        axes.axhline(own["score"].iloc[0], color=_OWN, lw=1.2, ls=(0, (4, 3)), zorder=1)
        axes.plot(0, own["score"].iloc[0], "o", color=_OWN, ms=7)
    low, high = _range_of_interest(finished["score"])
    margin = max(0.1 * (high - low), 0.002)
    axes.set_ylim(low - 2 * margin, high + margin)
    lower = finished[finished["score"] < low - 2 * margin]
    for trials, mark, color in ((stopped, "x", FAINT), (lower, "v", _TRIAL)):
        bottom = np.full(len(trials), low - 1.4 * margin)
        axes.plot(trials["trial"], bottom, mark, color=color, ms=6)
    axes.set(xlabel="trial", ylabel=score)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    marks = "line: the best so far · orange: the experiment's own settings"
    crosses = " · cross: stopped or failed" if len(stopped) else ""
    triangles = " · triangle: far below" if len(lower) else ""
    entitle(figure, "Scores of the trials", marks + crosses + triangles)
    return figure


def _range_of_interest(scores: pd.Series[float]) -> tuple[float, float]:
    """Return the lowest and the highest score, without trials far below the better half."""
    high = scores.max()
    near = scores[scores >= high - max(8.0 * (high - scores.median()), 0.02)]
    return float(near.min()), float(high)
