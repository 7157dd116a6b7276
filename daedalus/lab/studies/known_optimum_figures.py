"""Figures of designers in populations of known optimum."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from daedalus.evaluation.basis import COLUMN
from daedalus.evaluation.figures import (
    FAINT,
    INK,
    empty_panels,
    entitle,
    interval_dots,
    palette,
)
from daedalus.evaluation.readable import readable

_UNIFORM = "optimum_uniform_"
_BESIDE: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False}
RESERVE = "reserve_price"
"""Column of a training history with the median reserve of the answers; with ``_low`` and ``_high``
behind it, its first and last decile."""


def optimum_shares(table: pd.DataFrame, theory: pd.DataFrame) -> Figure:
    """Draw the share of the highest revenue that each designer takes in each population.

    The frames are those of ``shares_of_optimum``, with a column ``population``, and
    ``theory_table``.
    """
    populations, names = list(theory["population"]), list(table["designer"].unique())
    figure, (axes,) = empty_panels(1, 1, (7.6, 1.7 + 0.62 * len(populations)))
    for number, (name, colour) in enumerate(palette(names).items()):
        rows = table[table["designer"] == name].set_index("population").loc[populations]
        places = np.arange(len(populations)) + _offset(number, len(names))
        interval_dots(axes, rows, "played_share", places, ms=4, color=colour, label=readable(name))
        expected = rows["equilibrium_share"].where(rows["played_share"].isna())
        axes.plot(expected, places, "o", ms=4, mfc="white", color=colour)
    for place, reachable in enumerate(theory["reachable"]):
        axes.plot([reachable] * 2, [place - 0.4, place + 0.4], color=INK, lw=1.2)
    axes.set_yticks(range(len(populations)), [readable(each) for each in populations])
    axes.invert_yaxis()
    axes.set_xlabel("share of the highest revenue of any mechanism (Myerson 1981)")
    axes.legend(**_BESIDE)
    reading = "bar: best reserve of our formats · hollow: equilibrium, as bidders do not play it"
    reading += " · thin: intervals over episodes"
    texts = table[f"played_share{COLUMN}"]
    entitle(figure, "How much of the optimum a designer takes", reading, texts)
    return figure


def myerson_reserve(table: pd.DataFrame, histories: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw reserves against the number of bidders, and against training steps.

    The table is as in ``optimum_shares``. Histories without ``RESERVE`` are left out.
    """
    figure, (left, right) = empty_panels(1, 2, (9.6, 3.9))
    rows = table[table["population"].str.startswith(_UNIFORM)].sort_values("bidders", kind="stable")
    names = list(rows["designer"].unique())
    colours = palette(names)
    for number, name in enumerate(names):
        own = rows[rows["designer"] == name]
        places = np.arange(len(own)) + _offset(number, len(names))
        left.plot(places, own["reserve"], "o", ms=4, color=colours[name], label=readable(name))
    left.set_xticks(range(rows["population"].nunique()), _bidders(rows))
    for name, history in histories.items():
        if f"{RESERVE}_high" in history:
            smooth = history.rolling(10, min_periods=1).mean()
            colour = colours.get(name, FAINT)
            right.plot(history["step"], smooth[RESERVE], color=colour, lw=1.2)
            low, high = smooth[f"{RESERVE}_low"], smooth[f"{RESERVE}_high"]
            faint = 0.2 / len(histories)
            right.fill_between(history["step"], low, high, color=colour, alpha=faint, lw=0)
    for panel in (left, right):
        panel.axhline(0.5, color=INK, lw=0.8, ls="--")
        panel.set(ylim=(0.0, 1.0), ylabel="reserve price")
    left.set_xlabel("bidders with values even from 0 to 1")
    right.set_xlabel("step of GRPO")
    right.legend(*left.get_legend_handles_labels(), **_BESIDE)
    reading = "dashed: theory, 0.50 for any number of bidders · band: 80 % of the answers"
    entitle(figure, "Myerson's reserve", reading)
    return figure


def _offset(number: int, count: int) -> float:
    """Return how far the dots of a designer lie from the middle, so that none hides another."""
    return (number - (count - 1) / 2.0) * 0.7 / max(count, 2)


def _bidders(rows: pd.DataFrame) -> list[str]:
    return [name.removeprefix(_UNIFORM) for name in rows["population"].unique()]
