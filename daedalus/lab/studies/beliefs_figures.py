"""Figures of what a language model believes, stage by stage of its training."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from daedalus.evaluation.figures import (
    empty_panels,
    entitle,
    heat_map,
)
from daedalus.evaluation.readable import readable
from daedalus.market.mechanism import CHOICES, FIELDS, RANGES

_COLUMNS = 4


def field_panels(beliefs: pd.DataFrame) -> Figure:
    """Draw the probabilities of each field's values: bars, or shares at most a number.

    Beliefs are frames of ``field_beliefs`` with the column ``stage`` of training first.
    """
    stages = list(beliefs["stage"].unique())
    colours = sns.color_palette("colorblind", len(stages))
    figure, panels = empty_panels(3, _COLUMNS, (12.5, 7.6))
    for panel, name in zip(panels, FIELDS, strict=False):
        table = beliefs[beliefs["field"] == name]
        shares = table.pivot_table(index="value", columns="stage", values="probability", sort=False)
        draw = _at_most if name in RANGES else _bars
        draw(panel, name, shares.reindex(columns=stages).fillna(0.0), colours)
        panel.set_title(readable(name), loc="left")
        panel.set_ylim(0, 1.04)
    panels[-1].set_axis_off()
    handles = [panels[0].fill_between([], [], [], color=colour) for colour in colours]
    panels[-1].legend(handles, stages, frameon=False, loc="center left", title="model")
    reading = "shares of sampled answers to one prompt · lines: share of answers up to the number"
    entitle(figure, "What the model believes about each field", reading)
    return figure


def choice_map(beliefs: pd.DataFrame) -> Figure:
    """Draw how likely each stage of training finds each choice in one answer.

    Beliefs are frames of ``choice_beliefs`` with the column ``stage`` of training first.
    """
    numbered = beliefs.assign(choice=beliefs.groupby("stage").cumcount())
    stages = list(beliefs["stage"].unique())
    table = numbered.pivot(index="stage", columns="choice", values="probability").loc[stages]
    first = numbered[numbered["stage"] == stages[0]]
    table.columns = pd.Index(
        [f"{field}: {token.strip()}" for field, token in zip(first.field, first.token, strict=True)]
    )
    figure, (axes,) = empty_panels(1, 1, (2.0 + 0.55 * len(first), 2.6 + 0.4 * len(stages)))
    heat_map(axes, table, 1.0, rotation=50)
    reading = "probability of each choice in the last model's likeliest answer, given those before"
    entitle(figure, "How sure each model is of that answer", reading)
    return figure


def _bars(panel: Axes, name: str, shares: pd.DataFrame, colours: Sequence[object]) -> None:
    """Draw a bar of each value for each stage."""
    values = CHOICES.get(name, (False, True))
    rows = shares.reindex(list(values)).fillna(0.0)
    width = 0.8 / len(rows.columns)
    for place, (stage, colour) in enumerate(zip(rows.columns, colours, strict=True)):
        shift = (place - (len(rows.columns) - 1) / 2) * width
        panel.bar(np.arange(len(rows)) + shift, rows[stage], width, color=colour)
    panel.set_xticks(range(len(rows)), [fill(readable(each), 10) for each in values], fontsize=8.5)


def _at_most(panel: Axes, name: str, shares: pd.DataFrame, colours: Sequence[object]) -> None:
    """Draw the share of answers up to each number, a line for each stage."""
    low, high = RANGES[name]
    rows = shares.sort_index().cumsum()
    places = [low, *rows.index.astype(float), high]
    for stage, colour in zip(rows.columns, colours, strict=True):
        panel.step(places, [0.0, *rows[stage], 1.0], where="post", color=colour, lw=1.8)
    panel.set_xlim(low - 0.02 * (high - low), high + 0.02 * (high - low))
