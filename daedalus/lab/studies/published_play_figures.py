"""The figure of Q-learners who come to collude: revenue over time, theirs and ours."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from daedalus.evaluation.figures import FAINT, empty_panels, entitle
from daedalus.lab.studies.tacit_collusion import KNOWN, MARKET, OURS, PAPER, PUBLISHED_FORMATS

_PANELS = (PAPER, MARKET, OURS)
_COLOURS = {"first_price": "#d55e00", "second_price": "#0072b2"}
_GREY = "#8c8c8c"


def collusion_curves(curves: pd.DataFrame) -> Figure:
    """Draw the revenue of Q-learners in first and second price over rounds.

    Args:
        curves: The frame of ``learning_curves``.
    """
    figure, axes = empty_panels(1, len(_PANELS), (11.4, 4.1))
    for panel, name in zip(axes, _PANELS, strict=True):
        for kind in PUBLISHED_FORMATS:
            _band(panel, curves, name, kind, _COLOURS[kind], kind.replace("_", " "))
        panel.set_title(name, loc="left")
        panel.set(xlim=(0, curves["round"].max() / 1000), ylim=(0, 1.02), xlabel="thousand rounds")
    _band(axes[0], curves, KNOWN, "first_price", _GREY, "first price, payoffs of all bids known")
    axes[0].set_ylabel("revenue, share of the value")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    runs = curves["run"].nunique()
    reading = (
        f"line: median of {runs} runs · band: quartiles · two bidders with the value 1, no reserve"
    )
    entitle(
        figure,
        "Q-learners collude in first price with the paper's settings, not with ours",
        reading,
    )
    return figure


def _band(
    axes: Axes, curves: pd.DataFrame, bidders: str, auction_type: str, colour: str, label: str
) -> None:
    """Draw the median and the quartiles over runs."""
    chosen = curves[(curves["bidders"] == bidders) & (curves["auction_type"] == auction_type)]
    over = chosen.groupby("round")["revenue"]
    middle = over.median()
    rounds = middle.index / 1000
    band = over.quantile(0.25), over.quantile(0.75)
    axes.fill_between(rounds, *band, color=colour, alpha=0.18, lw=0)
    axes.plot(rounds, middle, color=colour, lw=1.8, label=label)
    axes.tick_params(colors=FAINT)
