"""The figure of fronts: what one model reaches, beside a search for each objective."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from daedalus.evaluation.figures import (
    empty_panels,
    entitle,
    palette,
)
from daedalus.evaluation.readable import readable
from daedalus.lab.studies.pareto_fronts import pairs

_LINK = "#cccccc"
_MARKS = "os^D"


def front_panels(table: pd.DataFrame, shares: pd.DataFrame) -> Figure:
    """Draw each pair of goals: a point for each objective and designer.

    A thin line joins the points of one objective. Points on the front of their designer are filled.

    Args:
        table: The frame of ``fronts``.
        shares: The frame of ``volumes``.
    """
    figure, panels = empty_panels(1, len(pairs()), (4.0 * len(pairs()), 4.8))
    for panel, (across, up) in zip(panels, pairs(), strict=True):
        for _, rows in table.groupby("objective", sort=False):
            panel.plot(rows[across], rows[up], color=_LINK, lw=0.8, zorder=1)
        _points(panel, table, across, up)
        panel.grid(visible=True, axis="x")
        panel.set(xlabel=across, ylabel=up)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    named = zip(shares["designer"], shares["share"], strict=True)
    told = [f"{readable(name)} {100 * share:.0f} %" for name, share in named]
    reading = "a line joins the points of one objective; filled: on the designer's own front; "
    entitle(figure, "What each objective reaches", f"{reading}hypervolume: {', '.join(told)}")
    return figure


def _points(panel: Axes, table: pd.DataFrame, across: str, up: str) -> None:
    colours = palette(list(table["designer"].unique()))
    groups = table.groupby("designer", sort=False)
    for mark, (name, rows) in zip(_MARKS * len(colours), groups, strict=False):
        colour = colours[str(name)]
        faces = [colour if front else "white" for front in rows["front"]]
        shape: dict[str, Any] = {"s": 34, "marker": mark, "edgecolors": colour, "zorder": 2}
        panel.scatter(rows[across], rows[up], c=faces, **shape)
        panel.scatter([], [], c=colour, label=readable(name), **shape)
