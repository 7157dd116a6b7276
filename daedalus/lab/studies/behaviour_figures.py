"""Figures of a designer's behaviour against different bidders, and of what it gains there."""

from __future__ import annotations

from typing import Any

import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from daedalus.evaluation.basis import over_episodes
from daedalus.evaluation.figures import INK, empty_panels, entitle, palette
from daedalus.evaluation.readable import readable
from daedalus.evaluation.statistics import half_width
from daedalus.lab.studies.behaviour import PRESENT, advantage, settings_by_presence
from daedalus.market.mechanism import CHOICES, FLAGS, RANGES

_ENOUGH = 10  # episodes behind a point
_SHORT = {
    "reveal_competing_bids": "bids",
    "reveal_winner_identity": "winner",
    "reveal_clearing_price": "price",
    "reveal_bid_distribution": "distribution",
    "reveal_reserve": "reserve",
}
_ROWS = {
    "auction format, share": [f"auction_type={word}" for word in CHOICES["auction_type"]],
    "coalition policy, share": [f"coalition_policy={word}" for word in CHOICES["coalition_policy"]],
    "revealed, share": list(FLAGS),
    "penalty": [name for name in RANGES if name != "reserve_price"],
    "reserve price": ["reserve_price"],
}


def behaviour(table: pd.DataFrame, designer: str) -> Figure:
    """Draw a designer's settings against how many bidders may collude, withdraw or shill.

    Args:
        table: The frame of ``decisions``.
        designer: Name of the designer.
    """
    figure, panels = empty_panels(len(_ROWS), len(PRESENT), (10.6, 11.0))
    for column, present in enumerate(PRESENT):
        means = settings_by_presence(table, designer, present)
        means = means[means["episodes"] >= _ENOUGH]
        for row, (label, names) in enumerate(_ROWS.items()):
            panel = panels[row * len(PRESENT) + column]
            _lines(panel, means, names)
            panel.set_ylim(*((0, 3.1) if label == "penalty" else (-0.03, 1.03)))
            if row == len(_ROWS) - 1:
                panel.set_xlabel(f"bidders who {readable(present)}")
            panel.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
            if column == 0:
                panel.set_ylabel(label)
            if column == len(PRESENT) - 1 and len(names) > 1:
                panel.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=8)
    entitle(
        figure,
        f"Settings of the {readable(designer)} designer, by the bidders of an episode",
        f"means from the fourth step on, where a number of bidders has {_ENOUGH} or more episodes",
    )
    return figure


def advantages(table: pd.DataFrame, designer: str, other: str) -> Figure:
    """Draw the difference in reward of two designers, by the bidders of an episode.

    Args:
        table: The frame of ``decisions``.
        designer: Name of the designer.
        other: Name of the designer with which it is paired, episode by episode.
    """
    figure, panels = empty_panels(1, len(PRESENT), (10.6, 3.4))
    colour = palette([designer])[designer]
    counts: list[int] = []
    for panel, present in zip(panels, PRESENT, strict=True):
        found = advantage(table, designer, other, present)
        found = found[found["count"] >= _ENOUGH]
        style: dict[str, Any] = {"fmt": "o-", "ms": 5, "lw": 1.2, "color": colour}
        panel.axhline(0, color=INK, lw=0.8)
        counts += list(found["count"])
        half = half_width(found["sem"], found["count"], 0.95)
        panel.errorbar(found.index, found["mean"], yerr=half, **style)
        panel.set_xlabel(f"bidders who {readable(present)}")
        panel.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    panels[0].set_ylabel(f"reward minus that of {readable(other)}")
    reading = f"mean over paired episodes · bars: {over_episodes(counts, 0.95)}"
    names = f"{readable(designer)} minus that of {readable(other)}"
    title = f"Reward of {names}, by the bidders of an episode"
    entitle(figure, title, reading)
    return figure


def _lines(panel: Axes, means: pd.DataFrame, names: list[str]) -> None:
    for name, colour in zip(names, sns.color_palette("colorblind", len(names)), strict=True):
        label = _SHORT.get(name, name.split("=")[-1])
        panel.plot(
            means.index, means[name], "o-", ms=3.5, lw=1.4, color=colour, label=readable(label)
        )
