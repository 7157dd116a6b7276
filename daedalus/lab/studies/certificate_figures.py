"""The figure of certificates: what each mechanism leaves to gain, by type of bidders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from daedalus.evaluation.figures import (
    FAINT,
    INK,
    empty_panels,
    entitle,
    legend_below,
    palette,
)
from daedalus.evaluation.readable import readable
from daedalus.lab.studies.certificate_tables import KEY

PANELS = {
    "interim_regret": "interim regret",
    "ex_post_regret": "ex-post regret",
    "hindsight_regret": "regret in hindsight,\nrepeated market",
    "ring_gain": "a ring's gain",
}
"""Columns that are drawn, and their titles; a column without numbers is left out."""

MOST_ROWS = 12
"""The most mechanisms that are drawn, the most frequent ones."""

_BAR = "#d9d9d9"


def certificate_dots(
    summary: pd.DataFrame, types: pd.DataFrame, notes: Sequence[str] = ()
) -> Figure:
    """Draw regrets and gains of each mechanism: a bar for the mean or largest, a dot for a type.

    The frames are those of ``certificate_tables``. Notes are lines below the title.
    """
    shown = summary.head(MOST_ROWS)
    names = [
        f"{readable(kind)}, reserve {reserve:.2f}: {100.0 * share:.0f} %"
        for kind, reserve, share in zip(*(shown[name] for name in KEY), strict=True)
    ]
    columns = [name for name in PANELS if types[name].notna().any()]
    size = (3.2 + 2.5 * len(columns), 1.9 + 0.36 * len(shown) + 0.24)
    figure, axes = empty_panels(1, len(columns), size)
    for panel, column in zip(axes, columns, strict=True):
        _panel(panel, shown, types, column)
        panel.set_yticks(range(len(shown)), names if panel is axes[0] else [""] * len(shown))
    if types["type"].nunique() > 1:
        legend_below(figure, axes[0], 6, "right")
    reading = (
        "bar: mean over bidders, of a ring's gain the largest · dot: a type · all units together "
        "· %: share of steps\n" + "\n".join(notes)
    )
    entitle(figure, "What truthful bidders could gain by other bids", reading)
    return figure


def _panel(axes: Axes, shown: pd.DataFrame, types: pd.DataFrame, column: str) -> None:
    """Draw one column; rows of ``types`` follow the mechanisms in the order of ``shown``."""
    axes.barh(range(len(shown)), shown[column], height=0.62, color=_BAR)
    colours = palette([str(name) for name in types["type"].unique()])
    for name, rows in types.groupby("type", sort=False):
        values = rows[column].head(len(shown))
        style: dict[str, Any] = {
            "color": colours[str(name)],
            "s": 26,
            "lw": 0.6,
            "edgecolor": "white",
        }
        axes.scatter(values, range(len(shown)), label=readable(name), zorder=3, **style)
    axes.axvline(0.0, color=INK, lw=0.8)
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    axes.xaxis.set_major_locator(MaxNLocator(4))
    top = max(1.12 * float(types[column].max()), 0.01)
    axes.set_xlim(-0.03 * top, top)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_title(PANELS[column], loc="left")
    axes.set_xlabel("units of value a sale", color=FAINT)
