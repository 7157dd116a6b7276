"""Figures of the leaderboard: who scores what where, and how often above what."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from daedalus.evaluation.figures import INK, empty_panels, entitle, readable
from daedalus.evaluation.leaderboard import performance_profile, score_array
from daedalus.evaluation.statistics import interquartile_mean

_COLOURS = (
    "#8c8c8c", "#e69f00", "#cc79a7", "#56b4e9", "#882255", "#009e73", "#d55e00", "#0072b2",
    "#332288",
)  # fmt: skip


def leaderboard(scores: pd.DataFrame) -> Figure:
    """Draw each designer's scores by population with their IQM, and its performance profile.

    Args:
        scores: The frame of ``normalise``.
    """
    figure, (points, profile) = empty_panels(1, 2, (12.0, 4.6))
    names = _by_iqm(scores)
    for place, name in enumerate(names):
        array, colour = score_array(scores, name), _COLOURS[place % len(_COLOURS)]
        spread = np.linspace(-0.22, 0.22, array.size) if array.size > 1 else np.zeros(1)
        points.plot(array.ravel(), place + spread, "o", ms=4, color=colour, alpha=0.55)
        points.plot(interquartile_mean(array.ravel()), place, "|", ms=24, mew=2.2, color=INK)
        thresholds = np.linspace(-0.1, 1.1, 241)
        profile.plot(thresholds, performance_profile(array, thresholds), color=colour, lw=1.7)
        profile.plot([], [], color=colour, label=readable(name))
    points.set_yticks(range(len(names)), [readable(name) for name in names])
    points.set(xlabel="normalised reward: 0 random, 1 planner")
    profile.set(xlabel="normalised reward", ylabel="share of populations above", ylim=(0, 1.02))
    profile.legend(fontsize=8, loc="lower left")
    reading = "a dot for each population and seed · bar: interquartile mean"
    entitle(figure, "Designers in populations that none was trained on", reading)
    return figure


def score_map(scores: pd.DataFrame) -> Figure:
    """Draw the mean normalised score of each designer (columns) in each population (rows)."""
    names = _by_iqm(scores)
    means = scores.groupby(["population", "designer"], sort=False)["normalised"].mean().unstack()
    means = means[names]
    figure, (axes,) = empty_panels(1, 1, (2.6 + 1.0 * len(names), 1.8 + 0.5 * len(means)))
    axes.imshow(means, cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
    for (row, column), value in np.ndenumerate(means.to_numpy()):
        ink = "white" if value > 0.75 else INK
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", fontsize=8.5, color=ink)
    axes.set_xticks(range(len(names)), [readable(name) for name in names], rotation=25, ha="right")
    axes.set_yticks(range(len(means)), [readable(str(name)) for name in means.index])
    axes.grid(visible=False)
    entitle(figure, "Where each designer does well", "0 is random, 1 the planner; mean over seeds")
    return figure


def _by_iqm(scores: pd.DataFrame) -> list[str]:
    """Return the designers from worst to best."""
    names = [str(name) for name in scores["designer"].unique()]
    return sorted(names, key=lambda name: interquartile_mean(score_array(scores, name).ravel()))
