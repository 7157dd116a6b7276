"""Figures of what a designer sets, when it has understood, and what training changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from daedalus.evaluation.basis import over_episodes
from daedalus.evaluation.figures import FAINT, INK, empty_panels, entitle, heat_map
from daedalus.evaluation.readable import readable
from daedalus.evaluation.statistics import half_width
from daedalus.market.mechanism import FIELDS, FLAGS

_COLUMNS = 5
_OTHERS = "#d9d9d9"
_BEFORE, _AFTER = "#e69f00", "#0072b2"


def choice_panels(shares: pd.DataFrame, mechanisms: pd.DataFrame, designer: str) -> Figure:
    """Draw ``choices``: how often each mechanism is in force in each population, step by step."""
    populations = list(shares.index.unique("population"))
    rows = -(-len(populations) // _COLUMNS)
    below = 0.5 + 0.2 * len(mechanisms)
    figure, panels = empty_panels(rows, _COLUMNS, (12.0, 0.9 + 1.75 * rows + below))
    colours = [*sns.color_palette("colorblind", len(mechanisms)), _OTHERS]
    for panel, name in zip(panels, populations, strict=False):
        table = shares.loc[name]
        panel.stackplot(table.index, table.to_numpy().T, colors=colours, step="mid", lw=0)
        panel.set_title(readable(name), loc="left")
        panel.set(ylim=(0, 1), xlim=(table.index.min(), table.index.max()))
        panel.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    for panel in panels[len(populations) :]:
        panel.remove()
    for panel in panels[max(0, len(populations) - _COLUMNS) : len(populations)]:
        panel.set_xlabel("step")
    texts = [f"{name}  {_described(row, mechanisms)}" for name, row in mechanisms.iterrows()]
    handles = [panels[0].fill_between([], [], [], color=colour) for colour in colours]
    figure.legend(
        handles, [*texts, "others"], loc="outside lower left", frameon=False, fontsize=8.5
    )
    title = f"What the {readable(designer)} designer sets in each population, step by step"
    entitle(figure, title, "share of the episodes in which a mechanism is in force")
    return figure


def understanding(table: pd.DataFrame, designer: str, reference: str) -> Figure:
    """Draw ``losses``: when mechanisms settle, and what is lost before and after that.

    Losses are against ``reference``, a designer that knows the population.
    """
    rows = table.assign(lost=table["before"] + table["after"]).sort_values("lost", ascending=False)
    places = np.arange(len(rows))
    figure, (left, right) = empty_panels(1, 2, (11.0, 1.7 + 0.32 * len(rows)))
    left.hlines(places, rows["early"], rows["late"], color=_AFTER, lw=6, alpha=0.35)
    left.plot(rows["settled"], places, "o", ms=6, color=_AFTER)
    left.set_yticks(places, [readable(str(name)) for name in rows.index])
    left.set(xlabel="step", xlim=(0.7, None))
    left.set_title("settled: from this step on nothing changes", loc="left")
    _stacked(right, rows, places)
    right.axvline(0, color=INK, lw=0.8)
    right.set_yticks(places, [""] * len(rows))
    right.set_xlabel(f"reward of {readable(reference)} minus its own")
    right.set_title("what is lost", loc="left")
    right.legend(frameon=False, fontsize=8.5)
    reading = "left: median and middle half of the episodes · right: thin lines: "
    reading += over_episodes(rows["count"], 0.95)
    entitle(
        figure, f"When the {readable(designer)} designer has understood, and what it costs", reading
    )
    return figure


def changes(differ: pd.DataFrame, gains: pd.DataFrame, designer: str, before: str) -> Figure:
    """Draw where a designer decides differently from another, and what it gains by that.

    Args:
        differ: The frames of ``changed_fields`` with the column ``population``.
        gains: The frame of ``advantage`` by population.
        designer: Name of the designer.
        before: Name of the other designer, such as the model before GRPO.
    """
    size = (13.0, 2.0 + 0.32 * differ["population"].nunique())
    figure, (steps, fields, gain) = empty_panels(1, 3, size)
    order = list(gains.sort_values("mean").index)
    by_step = differ.pivot_table(index="population", columns="step", values="any").loc[order]
    _heat(steps, by_step, 0)
    steps.set(xlabel="step")
    steps.set_title("decisions that differ, %", loc="left")
    by_field = differ.groupby("population")[list(FIELDS)].mean().loc[order]
    _heat(fields, by_field, 55)
    fields.set_yticks(range(len(order)), [""] * len(order))
    fields.set_title("fields that differ, % of decisions", loc="left")
    style: dict[str, Any] = {"fmt": "o", "ms": 5, "color": _AFTER}
    bars = half_width(gains.loc[order, "sem"], gains.loc[order, "count"], 0.95)
    gain.errorbar(gains.loc[order, "mean"], range(len(order)), xerr=bars, **style)
    gain.axvline(0, color=INK, lw=0.8)
    gain.set_yticks(range(len(order)), [""] * len(order))
    gain.set(ylim=(len(order) - 0.5, -0.5), xlabel=f"reward minus that of {readable(before)}")
    gain.xaxis.set_major_locator(MaxNLocator(4))
    gain.set_title("what that earns", loc="left")
    reading = "same states for both, up to which the first plays · bars: "
    reading += over_episodes(gains["count"], 0.95)
    entitle(
        figure,
        f"What the {readable(designer)} designer does differently from {readable(before)}",
        reading,
    )
    return figure


def _stacked(panel: Axes, rows: pd.DataFrame, places: np.ndarray[Any, Any]) -> None:
    """Draw both losses from zero outwards; a gain lies left of zero."""
    for sign in (1, -1):
        parts = [(sign * rows[name]).clip(lower=0) * sign for name in ("before", "after")]
        labels = ("before it has settled", "after") if sign == 1 else (None, None)
        panel.barh(places, parts[0], color=_BEFORE, height=0.6, label=labels[0])
        panel.barh(places, parts[1], left=parts[0], color=_AFTER, height=0.6, label=labels[1])
    half = half_width(rows["sem"], rows["count"], 0.95)
    panel.errorbar(rows["lost"], places, xerr=half, fmt="none", color=FAINT, lw=1)


def _heat(panel: Axes, table: pd.DataFrame, rotation: float) -> None:
    top = max(0.2, float(table.to_numpy().max()))
    heat_map(panel, table, 1.2 * top, lambda share: f"{100 * share:.0f}", rotation)


def _described(mechanism: pd.Series[Any], all_of_them: pd.DataFrame) -> str:
    """Return in words the fields in which the mechanisms differ, and always the format."""
    varied = [name for name in FIELDS if all_of_them[name].nunique(dropna=False) > 1]
    if mechanism[list(FIELDS)].isna().all():
        return "no valid mechanism"
    parts = [readable(str(mechanism["auction_type"]))]
    parts += [_word(name, mechanism[name]) for name in varied if name != "auction_type"]
    return " · ".join(parts)


def _word(name: str, value: Any) -> str:
    if name in FLAGS:
        shown = readable(name).removeprefix("reveal ")
        return f"shows {shown}" if value else f"hides {shown}"
    label = readable(name)
    return f"{label} {value:g}" if isinstance(value, float) else f"{label}: {readable(str(value))}"
