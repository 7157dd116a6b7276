"""The figure of coverage: how often the intervals of a report on bids hold the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from daedalus.evaluation.figures import FAINT, empty_panels, entitle, interval_dots, legend_below
from daedalus.lab.studies.bid_logs import KINDS
from daedalus.lab.studies.coverage import QUANTITIES

_COLOURS = ["#56b4e9", "#0072b2", "#332288", "#882255", "#d55e00"]


def band(confidence: float) -> tuple[float, float]:
    """Return between which shares intervals are about as wide as they say.

    They miss the truth at most twice and at least two fifths as often as they say: at a confidence
    of 95 % the shares are 90 and 98 %.

    Args:
        confidence: Confidence of the intervals, above 0 and below 1.
    """
    missed = 1.0 - confidence
    return max(1.0 - 2.0 * missed, 0.0), 1.0 - 0.4 * missed


def coverage_dots(table: pd.DataFrame, confidence: float) -> Figure:
    """Draw ``coverage_table``: the coverage of each quantity by kind of log and number of sales."""
    kinds, sales = list(table["kind"].unique()), sorted(table["sales"].unique())
    more = len(sales) > len(_COLOURS)
    colours = sns.blend_palette(_COLOURS, len(sales)).as_hex() if more else _COLOURS
    step = min(0.22, 1.1 / len(sales))  # the dots of a row stay apart from those of the next
    low, high = band(confidence)
    figure, axes = empty_panels(1, len(QUANTITIES), (12.4, 1.7 + 0.36 * len(kinds)))
    for panel, quantity in zip(axes, QUANTITIES, strict=True):
        panel.axvspan(low, high, color="#e3f1ea", zorder=0, lw=0)
        for number, (each, colour) in enumerate(zip(sales, colours, strict=False)):
            rows = table[(table["quantity"] == quantity) & (table["sales"] == each)]
            shift = step * (number - (len(sales) - 1) / 2.0)
            places = np.array([kinds.index(kind) for kind in rows["kind"]]) + shift
            style: dict[str, Any] = {"ms": 4.5, "elinewidth": 1.1, "color": colour, "lw": 0}
            interval_dots(panel, rows, "coverage", places, label=f"{each:,} sales", **style)
        panel.set_title(quantity, loc="left")
        panel.set(xlim=(-0.03, 1.03), ylim=(len(kinds) - 0.5, -0.5))
        panel.set_yticks(range(len(kinds)), [""] * len(kinds))
        panel.set_xticks([0.0, 0.5, 1.0], ["0", "50 %", "100 %"])
        panel.tick_params(colors=FAINT, axis="x")
    axes[0].set_yticks(range(len(kinds)), [KINDS[kind].words for kind in kinds])
    legend_below(figure, axes[0], min(len(sales), 8))
    logs = int(table["logs"].max())
    reading = (
        f"dot: share of up to {logs} logs whose interval holds the truth, with the interval of this"
        f" share · green: {100 * low:.3g} to {100 * high:.3g} % · no dot: such a log is refused"
    )
    entitle(figure, "How often the intervals of a report on bids hold the truth", reading)
    return figure
