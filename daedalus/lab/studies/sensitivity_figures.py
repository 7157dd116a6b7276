"""Figures of the sensitivity experiment: response curves, best settings, and confusion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from daedalus.design.search.space import LEVELS
from daedalus.evaluation.figures import (
    FAINT,
    INK,
    empty_panels,
    entitle,
    heat_map,
)
from daedalus.evaluation.readable import readable
from daedalus.lab.studies.sensitivity import Identification
from daedalus.market.mechanism import CHOICES, FIELDS, FLAGS

_COLOURS = (
    "#8c8c8c", "#56b4e9", "#0072b2", "#009e73", "#e69f00", "#d55e00", "#882255", "#cc79a7",
    "#332288",
)  # fmt: skip
_SHORT = {"penalize_suspected": "suspected", "penalize_confirmed": "confirmed"}
_SHORT |= {"first_price": "first", "second_price": "second"}
_ZOOM = 0.12


def response_curves(table: pd.DataFrame) -> Figure:
    """Draw the loss of reward away from each field's best level, with a line for each population.

    Args:
        table: The frame of ``response_table``.
    """
    figure, axes = empty_panels(3, 4, (13.2, 9.4))
    populations = list(table["population"].unique())
    count = len(populations)
    palette = _COLOURS if count <= len(_COLOURS) else sns.color_palette("husl", count)
    colours = dict(zip(populations, palette, strict=False))
    for panel, field in zip(axes, FIELDS, strict=False):
        for offset, population in enumerate(populations):
            rows = table[(table["field"] == field) & (table["population"] == population)]
            _curve(panel, rows, field, colours[population], offset / len(populations) - 0.5)
        panel.set_title(readable(field), loc="left")
        panel.set_ylim(-_ZOOM, 0.01)
    handles, _ = axes[0].get_legend_handles_labels()
    legend = axes[len(FIELDS)]
    legend.axis("off")
    legend.legend(handles, [readable(name) for name in populations], loc="center left", fontsize=10)
    for row in range(3):
        axes[4 * row].set_ylabel("reward minus that at the best level")
    reading = (
        "around each population's best fixed mechanism · 95 % t intervals over episodes"
        f" · triangle: below -{_ZOOM}"
    )
    entitle(figure, "Effect of each field on the reward, by population", reading)
    return figure


def _curve(axes: Axes, rows: pd.DataFrame, field: str, colour: str, offset: float) -> None:
    """Draw one population's rewards: a line for a numeric field, points for the others."""
    numeric = field not in FLAGS and field not in CHOICES
    where = rows["setting"].to_numpy(float) if numeric else np.arange(len(rows)) + 0.5 * offset
    style: dict[str, Any] = {"color": colour, "ms": 3.5, "marker": "o", "elinewidth": 1.0}
    style["lw"] = 1.5 if numeric else 0.0
    middle, ends = rows["difference"], rows[["difference_low", "difference_high"]]
    half = ends.sub(middle, axis=0).abs().to_numpy().T
    axes.errorbar(where, middle, yerr=half, **style, label=readable(rows["population"].iloc[0]))
    beyond = where[rows["difference"].to_numpy() < -_ZOOM]
    axes.plot(beyond, np.full(len(beyond), 0.004 - _ZOOM), "v", color=colour, ms=4.5)
    if not numeric:
        axes.set_xticks(range(len(rows)), [_label(each) for each in rows["setting"]])


def _label(setting: Any) -> str:
    if isinstance(setting, bool | np.bool_):
        return "yes" if setting else "no"
    if isinstance(setting, str):
        return _SHORT.get(setting, setting)
    return f"{setting:g}"


def best_settings(table: pd.DataFrame) -> Figure:
    """Draw the best setting of each field (rows) for each population (columns) as a heat map.

    Args:
        table: The frame of ``response_table``.
    """
    populations = list(table["population"].unique())
    figure, (axes,) = empty_panels(1, 1, (2.6 + 1.12 * len(populations), 6.4))
    best = table[table["best"]].set_index(["field", "population"])["setting"]
    losses = table.groupby(["field", "population"])["difference"].min()
    shade = np.full((len(FIELDS), len(populations)), np.nan)
    for row, field in enumerate(FIELDS):
        for column, population in enumerate(populations):
            text, ink = "·", FAINT
            if losses[field, population] <= -0.005:
                setting = best[field, population]
                shade[row, column] = LEVELS[field].index(setting) / (len(LEVELS[field]) - 1)
                text, ink = _label(setting), INK if shade[row, column] < 0.6 else "white"
            axes.text(column, row, text, ha="center", va="center", fontsize=8.5, color=ink)
    axes.imshow(shade, cmap="Blues", vmin=0, vmax=1.15, aspect="auto")
    axes.set_xticks(
        range(len(populations)), [readable(name) for name in populations], rotation=25, ha="right"
    )
    axes.set_yticks(range(len(FIELDS)), [readable(field) for field in FIELDS])
    axes.grid(visible=False)
    reading = "darker: higher in the field's range · dot: changes the reward by less than 0.005"
    entitle(figure, "The best mechanism depends on the population", reading)
    return figure


def confusion(identification: Identification) -> Figure:
    """Draw the share of markets of each population that are classified as each population."""
    names = identification.populations
    figure, (axes,) = empty_panels(1, 1, (2.4 + 0.85 * len(names), 1.8 + 0.62 * len(names)))
    shares = pd.DataFrame(identification.confusion, names, names)
    heat_map(axes, shares, 1.0, lambda share: f"{share:.2f}" if share >= 0.005 else "")
    axes.set(xlabel="classified as", ylabel="population")
    title = f"Ten proxies identify {100 * identification.accuracy:.0f} % of markets"
    entitle(figure, title, "logistic regression after 20 rounds, tested on fresh markets")
    return figure
