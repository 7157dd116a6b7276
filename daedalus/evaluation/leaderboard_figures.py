"""Figures of the leaderboard: scores by population, intervals, and performance profiles."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from daedalus.evaluation.figures import FAINT, INK, empty_panels, entitle, palette, readable
from daedalus.evaluation.leaderboard import (
    REFERENCES,
    SeedBootstrap,
    over_populations,
    performance_profile,
    score_array,
)
from daedalus.evaluation.settings import EvaluationSettings

_THRESHOLDS = np.linspace(-0.5, 1.1, 161)
_SCALE = "normalised score: 0 random, 1 the better of planner and best own"
_AGGREGATES = {
    "mean": "mean",
    "worst_fifth": "worst fifth",
    "worst": "worst population",
    "iqm": "interquartile mean",
}


def leaderboard_figures(
    scores: pd.DataFrame, totals: pd.DataFrame, settings: EvaluationSettings
) -> dict[str, Figure]:
    """Return the figures of a leaderboard by name; those of intervals need several seeds.

    Args:
        scores: The frame of ``normalise``.
        totals: The frame of ``aggregate``.
        settings: Confidence and number of resamples.
    """
    figures = {"leaderboard": leaderboard(scores), "scores": score_map(scores)}
    figures["profiles"] = profiles(scores, settings)
    if (totals["seeds"] > 1).all():
        figures["intervals"] = intervals(totals, settings)
        figures["improvement"] = improvements(totals, settings)
    return figures


def leaderboard(scores: pd.DataFrame) -> Figure:
    """Draw the scores of each designer in all populations, with their mean.

    Args:
        scores: The frame of ``normalise``.
    """
    names = _by_mean(scores)
    figure, (axes,) = empty_panels(1, 1, (7.2, 1.6 + 0.42 * len(names)))
    for place, (name, colour) in enumerate(palette(names).items()):
        array = score_array(scores, name)
        spread = np.linspace(-0.22, 0.22, array.size) if array.size > 1 else np.zeros(1)
        axes.plot(array.ravel(), place + spread, "o", ms=4, color=colour, alpha=0.55)
        axes.plot(over_populations(array), place, "|", ms=24, mew=2.2, color=INK)
    axes.set_yticks(range(len(names)), [readable(name) for name in names])
    axes.set(xlabel=_SCALE)
    reading = "a dot for each population and seed · bar: mean"
    entitle(figure, "Scores in populations that no designer was trained on", reading)
    return figure


def profiles(scores: pd.DataFrame, settings: EvaluationSettings) -> Figure:
    """Draw each designer's performance profile in its own panel, with the others in grey.

    Args:
        scores: The frame of ``normalise``.
        settings: Confidence and number of resamples of the band, which needs several seeds.
    """
    names = _by_mean(scores)
    arrays = {name: score_array(scores, name) for name in names}
    curves = {name: performance_profile(each, _THRESHOLDS) for name, each in arrays.items()}
    bootstrap = SeedBootstrap.of(arrays[names[0]].shape, settings, seed=0)
    columns = 3 if len(names) <= 9 else 4
    rows = -(-len(names) // columns)
    figure, panels = empty_panels(rows, columns, (3.0 * columns, 0.9 + 1.9 * rows))
    for panel, (name, colour) in zip(panels, palette(names).items(), strict=False):
        for curve in curves.values():
            panel.plot(_THRESHOLDS, curve, color="#d5d5d5", lw=0.8)
        samples = performance_profile(bootstrap.resampled(arrays[name]), _THRESHOLDS)
        panel.fill_between(_THRESHOLDS, *bootstrap.interval(samples), color=colour, alpha=0.3, lw=0)
        panel.plot(_THRESHOLDS, curves[name], color=colour, lw=1.8)
        panel.set_title(readable(name), loc="left")
        panel.set(ylim=(-0.02, 1.04), xlim=(_THRESHOLDS[0], _THRESHOLDS[-1]))
    for panel in panels[len(names) :]:
        panel.remove()
    for panel in panels[len(names) - columns : len(names)]:
        panel.set_xlabel("normalised score")
    reading = "share of seeds and populations above a score · grey: the other designers"
    band = f" · band: {_interval(settings)}" if bootstrap.picks.shape[1] > 1 else ""
    entitle(figure, "Performance profiles", reading + band)
    return figure


def intervals(totals: pd.DataFrame, settings: EvaluationSettings) -> Figure:
    """Draw each designer's means over populations, its worst ones and its IQM, with intervals.

    Args:
        totals: The frame of ``aggregate`` over several seeds.
        settings: Confidence of its intervals.
    """
    rows = totals.sort_values("mean")
    figure, panels = empty_panels(1, len(_AGGREGATES), (13.0, 1.5 + 0.36 * len(rows)))
    for panel, (column, label) in zip(panels, _AGGREGATES.items(), strict=True):
        _forest(panel, rows, column)
        panel.set_title(label, loc="left")
        panel.set_xlabel("normalised score")
    _name_rows(panels, rows)
    entitle(
        figure,
        "Scores over seeds, in populations that no designer was trained on",
        _reading(rows, settings),
    )
    return figure


def improvements(totals: pd.DataFrame, settings: EvaluationSettings) -> Figure:
    """Draw each designer's probability of improvement over each reference, with intervals.

    Args:
        totals: The frame of ``aggregate`` over several seeds.
        settings: Confidence of its intervals.
    """
    rows = totals.sort_values("mean")
    shown = [name for name in REFERENCES if f"beats_{name}" in rows]
    figure, panels = empty_panels(1, len(shown), (1.6 + 3.6 * len(shown), 1.5 + 0.36 * len(rows)))
    for panel, reference in zip(panels, shown, strict=True):
        panel.axvline(0.5, color=FAINT, lw=0.9, ls="--", zorder=1)
        _forest(panel, rows, f"beats_{reference}")
        panel.set_title(f"over {readable(reference)}", loc="left")
        panel.set(xlim=(-0.03, 1.03), xlabel="probability of improvement")
    _name_rows(panels, rows)
    entitle(figure, "Probability that a designer beats a reference", _reading(rows, settings))
    return figure


def score_map(scores: pd.DataFrame) -> Figure:
    """Draw the mean normalised score of each designer (columns) in each population (rows)."""
    names = _by_mean(scores)
    means = scores.groupby(["population", "designer"], sort=False)["normalised"].mean().unstack()
    means = means[names]
    figure, (axes,) = empty_panels(1, 1, (2.6 + 1.0 * len(names), 1.8 + 0.5 * len(means)))
    axes.imshow(means, cmap="Blues", vmin=0, vmax=1.3, aspect="auto")
    for (row, column), value in np.ndenumerate(means.to_numpy()):
        ink = "white" if value > 0.75 else INK
        axes.text(
            column,
            row,
            f"{round(value, 2) + 0.0:.2f}",
            ha="center",
            va="center",
            fontsize=8.5,
            color=ink,
        )
    axes.set_xticks(range(len(names)), [readable(name) for name in names], rotation=25, ha="right")
    axes.set_yticks(range(len(means)), [readable(str(name)) for name in means.index])
    axes.grid(visible=False)
    reading = f"{_SCALE} · mean over seeds"
    entitle(figure, "Score of each designer in each population", reading)
    return figure


def _by_mean(scores: pd.DataFrame) -> list[str]:
    """Return the designers from worst to best."""
    names = [str(name) for name in scores["designer"].unique()]
    return sorted(names, key=lambda name: over_populations(score_array(scores, name)))


def _forest(axes: Axes, rows: pd.DataFrame, column: str) -> None:
    """Draw a column of the rows from bottom to top, each as a tick on its interval."""
    for place, colour in enumerate(palette(list(rows["designer"])).values()):
        value, low, high = rows.iloc[place][[column, f"{column}_low", f"{column}_high"]]
        axes.barh(place, high - low, left=low, height=0.5, color=colour, alpha=0.4)
        axes.plot(value, place, "|", ms=13, mew=2.6, color=colour)
    axes.use_sticky_edges = False  # leaves room for ticks at the border
    axes.grid(visible=True, axis="x")
    axes.set_ylim(-0.6, len(rows) - 0.4)


def _name_rows(panels: list[Axes], rows: pd.DataFrame) -> None:
    """Write the designers' names beside the first panel only."""
    for panel in panels:
        panel.set_yticks(range(len(rows)), [""] * len(rows))
    panels[0].set_yticks(range(len(rows)), [readable(name) for name in rows["designer"]])


def _reading(totals: pd.DataFrame, settings: EvaluationSettings) -> str:
    return f"{int(totals['seeds'].max())} seeds · bar: {_interval(settings)} over seeds"


def _interval(settings: EvaluationSettings) -> str:
    return f"{100 * settings.confidence:g} % bootstrap interval"
