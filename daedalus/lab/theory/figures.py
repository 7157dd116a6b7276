"""Figures of the theory experiment: measurements as dots, theory as lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from daedalus.evaluation.figures import FAINT, INK, empty_panels, entitle
from daedalus.lab.theory import equilibria
from daedalus.lab.theory.bidder_checks import Learned
from daedalus.lab.theory.distributions import Numbers
from daedalus.lab.theory.revenue_checks import CASES, fitted_best_reserve
from daedalus.lab.theory.theory_market import RING_BIDDERS

_DOTS = 45
_Colour = tuple[float, float, float]


def learned_bids(learned: Sequence[Learned]) -> Figure:
    """Draw learned bids over the equilibrium, with a panel for each reserve."""
    reserves = sorted({each.reserve for each in learned})
    bidders = sorted({each.bidders for each in learned})
    colours = dict(zip(bidders, _ramp("crest", len(bidders)), strict=True))
    figure, axes = empty_panels(1, len(reserves), (4.9 * len(reserves), 5.0))
    for panel, reserve in zip(axes, reserves, strict=True):
        room = 1.0 - reserve
        panel.plot([reserve, 1.0], [reserve, 1.0], color=FAINT, lw=0.9, ls=(0, (4, 4)))
        where = (reserve + 0.62 * room, reserve + 0.7 * room)
        panel.text(*where, "bid = value", color=FAINT, fontsize=9, ha="right")
        for each in learned:
            if each.reserve == reserve:
                _bids(panel, each, colours[each.bidders])
        panel.set_title(f"reserve {reserve:g}" if reserve else "no reserve", loc="left")
        panel.set(xlim=(reserve - 0.02 * room, 1.0 + 0.16 * room), xlabel="value")
        panel.set(ylim=(reserve - 0.02 * room, reserve + 0.9 * room))
    axes[0].set_ylabel("bid")
    reading = "dots: learned bids · lines: equilibrium bids of n bidders who know n"
    entitle(figure, "First-price bidders learn the equilibrium bids", reading)
    return figure


def reserve_curves(curves: pd.DataFrame) -> Figure:
    """Draw ``revenue_checks.reserve_curves``, for each n without a ring and each size of a ring."""
    figure, axes = empty_panels(1, 2, (9.8, 5.0))
    competing = [case for case in CASES if case[1] == 1]
    colluding = [case for case in CASES if case[0] == RING_BIDDERS]
    for panel, cases, ramp in zip(axes, (competing, colluding), ("crest", "flare"), strict=True):
        for (bidders, ring), colour in zip(cases, _ramp(ramp, len(cases)), strict=True):
            rows = curves[(curves["bidders"] == bidders) & (curves["ring"] == ring)]
            _revenue(panel, rows, colour)
            _name(panel, bidders, ring, colour, f"n = {bidders}" if ramp == "crest" else None)
        panel.set(xlim=(-0.015, 0.93), ylim=(-0.01, 0.72), xlabel="reserve")
    axes[0].set_title("n bidders compete", loc="left")
    axes[1].set_title(f"some of {RING_BIDDERS} bidders collude", loc="left")
    axes[0].set_ylabel("revenue of a second-price sale")
    reading = "dots: measured · lines: theory · diamonds: measured best reserve"
    entitle(figure, "The best reserve rises with the size of the ring", reading)
    return figure


def _ramp(name: str, count: int) -> list[_Colour]:
    """Return colours from light to dark, for ordered cases."""
    return list(sns.color_palette(name, count))


def _bids(axes: Axes, each: Learned, colour: _Colour) -> None:
    """Draw one equilibrium, its name, and some learned bids, evenly over values."""
    values = np.linspace(max(each.reserve, 1e-3), 1.0, 200)
    line = equilibria.first_price_bid(values, each.bidders, each.reserve)
    order = np.argsort(each.values)
    shown = order[np.linspace(0, len(order) - 1, _DOTS).astype(int)]
    axes.plot(values, line, color=colour, lw=1.4)
    _dots(axes, each.values[shown], each.bids[shown], colour)
    where = 1.0 + 0.03 * (1.0 - each.reserve)
    _label(axes, where, float(line[-1]), f"n = {each.bidders}", colour, "center")


def _revenue(axes: Axes, rows: pd.DataFrame, colour: _Colour) -> None:
    """Draw the curve of theory, the measurements, and the measured best reserve."""
    bidders, ring = int(rows["bidders"].iloc[0]), int(rows["ring"].iloc[0])
    reserves = np.linspace(0.0, 0.92, 200)
    theory = [equilibria.expected_revenue(bidders, each, ring) for each in reserves]
    axes.plot(reserves, theory, color=colour, lw=1.4)
    _dots(axes, rows["reserve"].to_numpy(), rows["revenue"].to_numpy(), colour)
    best = fitted_best_reserve(rows)
    top = equilibria.expected_revenue(bidders, best, ring)
    axes.plot(best, top, "D", mfc="white", mec=INK, ms=6, zorder=6)


def _dots(axes: Axes, x: Numbers, y: Numbers, colour: _Colour) -> None:
    axes.scatter(x, y, s=22, color=colour, edgecolor="white", lw=0.6, zorder=3)


def _name(axes: Axes, bidders: int, ring: int, colour: _Colour, name: str | None) -> None:
    """Write the case of a revenue curve below its start, or above it where none collude."""
    above = name is None and ring == 1
    if name is None:
        name = "none collude" if ring == 1 else f"{ring} collude"
    where = 0.26 if ring == bidders else 0.0
    height = equilibria.expected_revenue(bidders, where, ring) + (0.012 if above else -0.014)
    _label(axes, where, height, name, colour, "bottom" if above else "top")


def _label(axes: Axes, x: float, y: float, name: str, colour: _Colour, align: str) -> None:
    """Write the name of a line in the colour of the line, over the grid."""
    box = {"fc": "white", "ec": "none", "pad": 0.6}
    axes.text(x, y, name, color=colour, va=align, fontsize=9, bbox=box, zorder=2)
