"""Figures of language models as bidders."""

from __future__ import annotations

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
from daedalus.lab.studies.llm_bidders import MODEL, SIMULATED

PUBLISHED = {
    "first_price": 0.956,
    "second_price": 0.988,
    "third_price": 0.911,
    "all_pay": 0.804,
}
"""Bid over value of GPT-4o with three bidders, values of 10 or more of 99 (arXiv 2507.09083)."""

_DRAWN = {
    SIMULATED: ("simulated bidders", "#009e73", "D"),
    MODEL: ("{name}", "#0072b2", "o"),
}


def bids_by_format(table: pd.DataFrame, name: str) -> Figure:
    """Draw bid over value of ``bidding`` by mechanism, beside published figures."""
    shown = [str(each) for each in table["designer"].unique()]
    shown += [each for each in PUBLISHED if each not in shown]
    figure, (axes,) = empty_panels(1, 1, (7.6, 1.9 + 0.36 * len(shown)))
    for population, (label, colour, marker) in _DRAWN.items():
        rows = table[table["bidders"] == population]
        places = [shown.index(each) for each in rows["designer"]]
        label = label.format(name=name)
        interval_dots(axes, rows, "bid_over_value", places, marker, ms=5, color=colour, label=label)
    places = [shown.index(each) for each in PUBLISHED]
    axes.plot(
        list(PUBLISHED.values()), places, "x", ms=6, color=INK, zorder=5, label="GPT-4o, published"
    )
    axes.set_yticks(range(len(shown)), [readable(each) for each in shown])
    axes.invert_yaxis()
    axes.axvline(1.0, color=FAINT, lw=0.8, ls="--")
    axes.set_xlabel("bid over value, mean where the value is 0.1 or more")
    axes.set_xlim(left=0.0)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    reading = "bars: intervals over episodes · crosses: three bidders, arXiv 2507.09083"
    texts = table[f"bid_over_value{COLUMN}"]
    entitle(figure, "How language models bid", reading, texts)
    return figure


_ENDS = ("low", "high")
_SIDES = ("simulated", "model")


def both_rewards(gaps: pd.DataFrame, name: str) -> Figure:
    """Draw what each mechanism of ``behaviour_gap`` earns under both populations of bidders."""
    figure, panels = empty_panels(1, 2, (10.4, 4.2))
    colours = palette([str(each) for each in gaps["designer"]])
    for panel, (key, label) in zip(panels, {"r": "R", "revenue": "revenue"}.items(), strict=True):
        top = gaps[[f"{key}_simulated_high", f"{key}_model_high"]].max().max() * 1.05
        panel.plot([0, top], [0, top], color=FAINT, lw=0.8, ls="--")
        for number, row in enumerate(gaps.to_dict("records")):
            x, y = row[f"{key}_simulated"], row[f"{key}_model"]
            ends = [
                [[abs(row[f"{key}_{side}_{end}"] - middle)] for end in _ENDS]
                for side, middle in (("simulated", x), ("model", y))
            ]
            designer = str(row["designer"])
            panel.errorbar(
                x, y, xerr=ends[0], yerr=ends[1], fmt="o", ms=max(11 - number, 4), lw=1,
                color=colours[designer], label=readable(designer),
            )  # fmt: skip
        panel.set(xlabel=f"{label} under simulated bidders", ylabel=f"{label} under {name}")
        panel.set(xlim=(-0.04 * top, None), ylim=(-0.04 * top, None))
    panels[1].legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    reading = (
        "a dot for each mechanism; rings: several in one place · bars: intervals over episodes"
    )
    texts = gaps[[f"{key}_{side}{COLUMN}" for key in ("r", "revenue") for side in _SIDES]]
    title = "Mechanisms under two kinds of bidders"
    entitle(figure, title, reading, texts.to_numpy().ravel())
    return figure
