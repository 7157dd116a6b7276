"""Figures of a report on a log of bids."""

from __future__ import annotations

import textwrap

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from daedalus.evaluation.figures import FAINT, INK, empty_panels, entitle
from daedalus.lab.bids.estimator import LEVEL, MONEY, RESERVE, Estimate
from daedalus.lab.bids.findings import Findings
from daedalus.lab.bids.value_quantiles import LEVELS
from daedalus.lab.bids.verdict import MULTIPLES, Judgement, Verdict, ends_of, place_of, tails
from daedalus.lab.theory.distributions import Numbers

_BIDS, _VALUES, _IN_FORCE, _SET = "#e69f00", "#0072b2", "#4d4d4d", "#009e73"
_SIZES = ("#56b4e9", "#0072b2", "#332288", "#882255", "#cc79a7", "#d55e00")
_SHOWN = slice(2, -5)  # hundredths of the bids; the ends are few
_STEPS = 160
_DRAWS = 500
_WIDTH = 0.07  # of the kernel of densities, as a share of the axis
_BASES = {
    RESERVE: "times the reserve in force",
    LEVEL: "times the usual bid of the sale",
    MONEY: "in the money of the log",
}
"""What reserves are multiples of, in words."""


def figures_of(findings: Findings) -> dict[str, Figure]:
    """Return all figures of a report, by name."""
    values = {"values": values_over_bids(findings.estimate)} if findings.estimate.by_size else {}
    return values | {
        "densities": densities(findings),
        "reserve": reserve_curve(findings),
        "sensitivity": sensitivity_dots(findings),
    }


def values_over_bids(estimate: Estimate) -> Figure:
    """Draw the value that each bid tells of, for some numbers of bidders."""
    figure, (axes,) = empty_panels(1, 1, (6.4, 4.6))
    sizes = list(estimate.by_size)
    chosen = sizes if len(sizes) <= len(_SIZES) else sizes[:4] + sizes[-1:]
    top = 0.0
    for colour, size in zip(_SIZES, chosen, strict=False):
        bids = estimate.bids[size]
        values = estimate.by_size[size]
        axes.plot(bids[_SHOWN], values[_SHOWN], color=colour, lw=1.8, label=f"{size} bidders")
        top = max(top, float(bids[_SHOWN][-1]))
    axes.plot([0.0, top], [0.0, top], color=FAINT, lw=1.0, ls="--", label="value = bid")
    axes.set(xlabel="bid, in usual bids of its sale", ylabel="estimated value, in usual bids")
    axes.set_xlim(0.0, 1.02 * top)
    highest = max(float(estimate.by_size[size][_SHOWN][-1]) for size in chosen)
    axes.set_ylim(0.0, min(2.5 * top, 1.05 * highest))
    axes.legend(frameon=False, fontsize=9)
    reading = "1 is the usual bid for such a sale · the lowest 2 % and highest 5 % are left out"
    entitle(figure, "What bidders bid, and what it was worth to them", reading)
    return figure


def densities(findings: Findings) -> Figure:
    """Draw the density of bids, and that of values with a band over the bootstrap samples."""
    estimate, confidence = findings.estimate, findings.confidence
    high = float(estimate.values[90]) * 1.15
    grid = np.linspace(0.0, high, _STEPS)
    figure, (axes,) = empty_panels(1, 1, (6.4, 4.2))
    axes.plot(grid, _density(estimate.all_bids, grid), color=_BIDS, lw=1.8, label="bids")
    axes.plot(grid, _density(estimate.values, grid), color=_VALUES, lw=1.8, label="values")
    drawn = np.array([_density(each.values, grid) for each in findings.samples])
    band = np.quantile(drawn, tails(confidence), axis=0)
    axes.fill_between(grid, *band, color=_VALUES, alpha=0.25, lw=0)
    axes.set(xlabel="in usual bids of the sale", ylabel="density", xlim=(0.0, high))
    axes.set_ylim(0.0, None)
    axes.legend(frameon=False, fontsize=9)
    reading = f"band: {100 * confidence:g} % interval · the highest tenth of values is left out"
    entitle(figure, "Bids and the values behind them", reading)
    return figure


def _density(quantiles: Numbers, grid: Numbers) -> Numbers:
    """Return a density by a triangular kernel, reflected at 0 and nowhere else."""
    width = _WIDTH * (grid[-1] - grid[0])
    fine = np.interp((np.arange(_DRAWS) + 0.5) / _DRAWS, LEVELS, quantiles)
    away = abs(np.concatenate([fine, -fine])[:, None] - grid) / width
    return np.asarray(np.maximum(1.0 - away, 0.0).sum(axis=0) / (width * _DRAWS))


def reserve_curve(findings: Findings) -> Figure:
    """Draw the reward of each reserve, compared with the one in force, with its band."""
    verdict, confidence = findings.verdict, findings.confidence
    figure, (axes,) = empty_panels(1, 1, (6.8, 4.4))
    now = place_of(verdict.in_force.multiple)

    def curve_of(each: Judgement) -> Numbers:
        return np.asarray(100.0 * (each.designed / each.in_force[now] - 1.0))

    curve, unit = curve_of(findings.judgement), findings.estimator.unit
    ends, places = ends_of(findings.judgements, curve_of, confidence), unit * MULTIPLES
    shown = MULTIPLES <= _right_end(curve, verdict)
    axes.fill_between(places[shown], *ends[:, shown], color=_VALUES, alpha=0.25, lw=0)
    axes.plot(places[shown], curve[shown], color=_VALUES, lw=1.8)
    low = float(min(ends[0][shown].min(), 0.0))
    high = float(max(ends[1][shown].max(), 0.0))
    axes.set_ylim(low - 0.05 * (high - low), high + 0.25 * (high - low))
    _mark(axes, unit * verdict.in_force.multiple, _IN_FORCE, "in force")
    if verdict.policy.multiple != verdict.in_force.multiple:
        word = "recommended" if verdict.change else "best in the estimate"
        _mark(axes, unit * verdict.policy.multiple, _SET, word)
    if verdict.unseen:
        axes.axvspan(0.0, verdict.in_force.multiple, color="#f2f2f2", zorder=0)
    axes.set(xlabel=f"reserve price, {_BASES[findings.base]}", ylabel="change of the result, %")
    axes.set_xlim(0.0, float(places[shown][-1]))
    axes.legend(frameon=False, fontsize=9, loc="upper right")
    grey = " · grey: the log has hardly any bids from there" if verdict.unseen else ""
    reading = f"band: {100 * confidence:g} % interval{grey}"
    entitle(figure, "What another reserve would bring", reading)
    return figure


def _right_end(curve: Numbers, verdict: Verdict) -> float:
    """Return the largest reserve that is drawn: where a quarter is lost, if not before."""
    after = max(verdict.in_force.multiple, verdict.policy.multiple)
    lost = (curve < -25.0) & (MULTIPLES > after)
    return float(MULTIPLES[np.argmax(lost)]) if lost.any() else float(MULTIPLES[-1])


def _mark(axes: Axes, place: float, colour: str, word: str) -> None:
    axes.axvline(place, color=colour, lw=1.4, ls="--", label=f"{word}: {place:.4g}")


def sensitivity_dots(findings: Findings) -> Figure:
    """Draw the best reserve, and the gain of the designed one, under each assumption."""
    table, unit = findings.sensitivity, findings.estimator.unit
    designed = unit * findings.verdict.policy.multiple
    figure, (left, right) = empty_panels(1, 2, (8.2, 1.7 + 0.3 * len(table)))
    places = np.arange(len(table))
    colours = [_SET if kind == "as estimated" else _VALUES for kind in table["kind"]]
    left.scatter(unit * table["best"], places, c=colours, s=34, zorder=3)
    gains = table["gain"].round(6) + 0.0  # what is left of rounding is no gain
    right.scatter(gains, places, c=colours, s=34, zorder=3)
    if not gains.any():
        right.set_xlim(-1.0, 1.0)
    left.axvline(designed, color=_SET, lw=1.2, ls="--")
    right.axvline(0.0, color=INK, lw=0.8)
    left.set_yticks(places, [textwrap.shorten(each, 60) for each in table["assumption"]])
    right.set_yticks(places, [""] * len(table))
    for panel in (left, right):
        panel.invert_yaxis()
        panel.margins(x=0.1)
        panel.grid(visible=True, axis="both")
    left.set_xlabel(f"best reserve, {_BASES[findings.base]}")
    right.set_xlabel("gain of the designed reserve in revenue, %")
    reading = "dashed: the reserve that was designed · each row changes one assumption"
    entitle(figure, "If an assumption fails", reading)
    return figure
