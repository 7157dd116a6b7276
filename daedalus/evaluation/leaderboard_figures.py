"""Figures of the leaderboard: scores by population, intervals, and performance profiles."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from daedalus.evaluation.basis import COLUMN
from daedalus.evaluation.figures import (
    FAINT,
    INK,
    empty_panels,
    entitle,
    heat_map,
    interval_bars,
    palette,
)
from daedalus.evaluation.leaderboard import (
    REFERENCES,
    performance_profile,
    score_array,
)
from daedalus.evaluation.readable import readable
from daedalus.evaluation.scale import ENDS

_THRESHOLDS = np.linspace(-0.5, 1.1, 161)
_SCALE = f"normalised score: {ENDS}"
_AGGREGATES = {
    "mean": "mean",
    "worst_fifth": "worst fifth",
    "worst": "worst population",
    "iqm": "interquartile mean",
}


def leaderboard_figures(
    scores: pd.DataFrame, totals: pd.DataFrame, confidence: float
) -> dict[str, Figure]:
    """Return the figures of a leaderboard by name; those over seeds need several.

    Scores are those of ``normalise``, and totals those of ``aggregate``.
    """
    figures = {"leaderboard": leaderboard(scores), "scores": score_map(scores)}
    figures["profiles"] = profiles(scores)
    if (totals["seeds"] > 1).all():
        figures["intervals"] = intervals(totals, confidence)
        if any(f"beats_{name}" in totals for name in REFERENCES):
            figures["improvement"] = improvements(totals)
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
        axes.plot(array.mean(), place, "|", ms=24, mew=2.2, color=INK)
    axes.set_yticks(range(len(names)), [readable(name) for name in names])
    axes.set(xlabel=_SCALE)
    reading = "a dot for each population and seed · bar: mean"
    reading += " · one seed has no interval" if scores["seed"].nunique() == 1 else ""
    entitle(figure, "Scores over the populations of the leaderboard", reading)
    return figure


def profiles(scores: pd.DataFrame) -> Figure:
    """Draw each designer's performance profile in its own panel, with the others in grey.

    Args:
        scores: The frame of ``normalise``.
    """
    names = _by_mean(scores)
    seeds = {name: performance_profile(score_array(scores, name), _THRESHOLDS) for name in names}
    columns = 3 if len(names) <= 9 else 4
    rows = -(-len(names) // columns)
    figure, panels = empty_panels(rows, columns, (3.0 * columns, 0.9 + 1.9 * rows))
    for panel, (name, colour) in zip(panels, palette(names).items(), strict=False):
        for each in seeds.values():
            panel.plot(_THRESHOLDS, each.mean(axis=0), color="#d5d5d5", lw=0.8)
        panel.plot(_THRESHOLDS, seeds[name].T, color=colour, lw=0.7, alpha=0.5)
        panel.plot(_THRESHOLDS, seeds[name].mean(axis=0), color=colour, lw=1.8)
        panel.set_title(readable(name), loc="left")
        panel.set(ylim=(-0.02, 1.04), xlim=(_THRESHOLDS[0], _THRESHOLDS[-1]))
    for panel in panels[len(names) :]:
        panel.remove()
    for panel in panels[len(names) - columns : len(names)]:
        panel.set_xlabel("normalised score")
    reading = "share of populations above a score · thin: each seed · grey: the other designers"
    entitle(figure, "Performance profiles", reading)
    return figure


def intervals(totals: pd.DataFrame, confidence: float) -> Figure:
    """Draw each designer's means over populations, its worst ones and its IQM, with intervals.

    Args:
        totals: The frame of ``aggregate`` over several seeds.
        confidence: Coverage of its intervals.
    """
    rows = totals.sort_values("mean")
    figure, panels = empty_panels(1, len(_AGGREGATES), (13.0, 1.5 + 0.36 * len(rows)))
    for panel, (column, label) in zip(panels, _AGGREGATES.items(), strict=True):
        interval_bars(panel, rows, column)
        panel.use_sticky_edges = False  # leaves room for ticks at the border
        panel.grid(visible=True, axis="x")
        panel.set_title(label, loc="left")
        panel.set_xlabel(f"over {rows[f'{column}{COLUMN}'].iloc[0]}")
    _name_rows(panels, rows)
    entitle(
        figure,
        "Scores over the populations of the leaderboard",
        f"normalised scores, mean of {_seeds(rows)} · bar: {100 * confidence:g} % interval over "
        "what stands below",
    )
    return figure


def improvements(totals: pd.DataFrame) -> Figure:
    """Draw each designer's probability of improvement over each reference.

    Args:
        totals: The frame of ``aggregate`` over several seeds.
    """
    rows = totals.sort_values("mean")
    shown = [name for name in REFERENCES if f"beats_{name}" in rows]
    figure, panels = empty_panels(1, len(shown), (1.6 + 3.6 * len(shown), 1.5 + 0.36 * len(rows)))
    for panel, reference in zip(panels, shown, strict=True):
        panel.axvline(0.5, color=FAINT, lw=0.9, ls="--", zorder=1)
        for place, colour in enumerate(palette(list(rows["designer"])).values()):
            value = rows[f"beats_{reference}"].iloc[place]
            panel.plot([0.5, value], [place] * 2, color=colour, lw=2.2, alpha=0.4)
            panel.plot(value, place, "o", ms=6, color=colour)
        panel.grid(visible=True, axis="x")
        panel.set_title(f"over {readable(reference)}", loc="left")
        panel.set(xlim=(-0.03, 1.03), xlabel="probability of improvement")
    _name_rows(panels, rows)
    reading = f"over pairs of {_seeds(rows)}, too few for an interval of a probability"
    entitle(figure, "Probability that a designer beats a reference", reading)
    return figure


def score_map(scores: pd.DataFrame) -> Figure:
    """Draw the mean normalised score of each designer (columns) in each population (rows)."""
    names = _by_mean(scores)
    means = scores.groupby(["population", "designer"], sort=False)["normalised"].mean().unstack()
    means = means[names]
    figure, (axes,) = empty_panels(1, 1, (2.6 + 1.0 * len(names), 1.8 + 0.5 * len(means)))
    heat_map(axes, means, 1.3, lambda score: f"{round(score, 2) + 0.0:.2f}")
    reading = f"{_SCALE} · mean over seeds"
    entitle(figure, "Score of each designer in each population", reading)
    return figure


def _by_mean(scores: pd.DataFrame) -> list[str]:
    """Return the designers from worst to best."""
    names = [str(name) for name in scores["designer"].unique()]
    return sorted(names, key=lambda name: float(score_array(scores, name).mean()))


def _name_rows(panels: list[Axes], rows: pd.DataFrame) -> None:
    """Write the designers' names beside the first panel only."""
    for panel in panels:
        panel.set_ylim(-0.6, len(rows) - 0.4)
        panel.set_yticks(range(len(rows)), [""] * len(rows))
    panels[0].set_yticks(range(len(rows)), [readable(name) for name in rows["designer"]])


def _seeds(totals: pd.DataFrame) -> str:
    return f"{int(totals['seeds'].max())} seeds"
