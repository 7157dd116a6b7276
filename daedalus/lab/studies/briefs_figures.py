"""Figures of designers under briefs."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from daedalus.evaluation.figures import INK, empty_panels, entitle, heat_map, palette
from daedalus.evaluation.readable import readable

_MARKS = "osD^"  # designers of the same colour differ in these
_HEIGHT = 0.75  # of a split's rows together


def split_scores(summary: pd.DataFrame, confidence: float) -> Figure:
    """Draw each designer's score and rules kept in each split, with intervals over briefs.

    Args:
        summary: The frame of ``summarised``.
        confidence: Coverage of its intervals.
    """
    splits, designers = list(summary["split"].unique()), list(summary["designer"].unique())
    size = (10.0, 1.8 + 0.22 * len(splits) * (len(designers) + 1))
    figure, panels = empty_panels(1, 2, size)
    colours = palette(designers)
    for axes, column in zip(panels, ("score", "rules_kept"), strict=True):
        for place, name in enumerate(designers):
            rows = summary[summary["designer"] == name].set_index("split").loc[splits]
            y = np.arange(len(splits)) + _HEIGHT * ((place + 0.5) / len(designers) - 0.5)
            low, high = rows[f"{column}_low"], rows[f"{column}_high"]
            axes.hlines(y, low, high, color=colours[name], lw=2)
            mark = _MARKS[list(colours.values())[:place].count(colours[name]) % len(_MARKS)]
            axes.plot(rows[column], y, mark, ms=5, color=colours[name], label=readable(name))
        axes.set_yticks(range(len(splits)), splits)
        axes.set(ylim=(len(splits) - 0.5, -0.5), xlabel=readable(column))
        axes.axvline(1, color=INK, lw=0.8)
        axes.axvline(0, color=INK, lw=0.8)
    panels[1].set_yticklabels([])
    panels[1].legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False, fontsize=8.5)
    reading = (
        "score: 0 is chance or a broken rule, 1 a search that knows the true parts; "
        f"lines: {100 * confidence:g} % intervals over briefs"
    )
    entitle(figure, "What designers make of briefs", reading)
    return figure


def clause_map(kinds: pd.DataFrame) -> Figure:
    """Draw how often each reader understood each type of clause, over all splits together.

    Args:
        kinds: The frame of ``by_clause``.
    """
    known = kinds.dropna(subset=["read"])
    right = known.assign(right=known["read"] * known["clauses"])
    sums = right.groupby(["designer", "kind"], sort=False)[["right", "clauses"]].sum()
    table = (sums["right"] / sums["clauses"]).unstack("kind")
    table = table.loc[list(known["designer"].unique()), list(known["kind"].unique())]
    figure, (axes,) = empty_panels(1, 1, (1.8 + 0.62 * table.shape[1], 2.2 + 0.4 * len(table)))
    heat_map(axes, table, top=1.0)
    splits = ", ".join(known["split"].unique())
    reading = f"share whose meaning and amount were understood; briefs of {splits}"
    entitle(figure, "Clauses read right", reading)
    return figure
