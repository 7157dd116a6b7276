"""Figures of an evaluation and of a training run, all in one hand.

Nothing here needs a display: figures are plain ``Figure`` objects on the Agg canvas.
"""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

PANELS = ("welfare", "fairness", "participation", "stability", "reward")
"""Metrics that ``metric_panels`` shows, in this order."""

CURVES = {
    "reward": "reward",
    "reward_std": "reward, std within groups",
    "entropy": "entropy, nats per token",
    "grad_norm": "gradient norm",
    "completion_length": "completion length, tokens",
    "validity": "share of valid mechanisms",
    "composite": "composite R",
    "frac_reward_zero_std": "share of groups without spread",
    "loss": "loss",
}
"""Columns that ``learning_curves`` shows, in this order, and what it calls them."""

_NAMED = {
    "random": "#8c8c8c",
    "informed_greedy": "#e69f00",
    "heuristic": "#cc79a7",
    "search": "#009e73",
    "trained": "#0072b2",
    "untrained": "#56b4e9",
}
_OTHERS = ("#d55e00", "#7a5195", "#b8a000", "#4d4d4d", "#882255", "#44aa99")
_INK = "#333333"
_FAINT = "#777777"
_STYLE = {
    "axes.edgecolor": "#bbbbbb",
    "axes.labelcolor": _INK,
    "axes.titlesize": 10.5,
    "axes.labelsize": 9.5,
    "grid.color": "#e8e8e8",
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _FAINT,
    "xtick.labelsize": 9,
    "ytick.labelsize": 8.5,
}
_GOLDEN = 0.6180339887498949  # its multiples mod 1 spread evenly, without a random draw


def palette(designers: Sequence[str]) -> dict[str, str]:
    """Return a colour for each designer, the same in every figure.

    The hues are told apart with any colour vision (Okabe & Ito 2008, and neighbours in Paul Tol's
    sets). Well-known designers own theirs; the others share the rest in alphabetical order.
    """
    others = sorted(set(designers) - set(_NAMED))
    extra = {name: _OTHERS[index % len(_OTHERS)] for index, name in enumerate(others)}
    return {name: _NAMED.get(name) or extra[name] for name in designers}


def readable(name: str) -> str:
    """Return a name as a reader writes it: ``informed_greedy`` becomes ``informed greedy``."""
    return name.replace("_", " ")


def reward_boxplot(episodes: pd.DataFrame, title: str) -> Figure:
    """Draw each designer's composite reward over episodes.

    Args:
        episodes: The frame of ``episode_means``.
        title: What the figure says or shows.
    """
    designers = _designers(episodes)
    figure, axes = _panels(1, 1, (max(5.0, 1.5 + 1.35 * len(designers)), 4.6))
    _boxes(axes[0], episodes, "reward", designers)
    axes[0].set_ylabel("composite reward R")
    _entitle(figure, title, _reading(_count(episodes)))
    return figure


def metric_panels(episodes: pd.DataFrame) -> Figure:
    """Draw what the reward is made of: a box panel for each of ``PANELS``.

    Args:
        episodes: The frame of ``episode_means``.
    """
    designers = _designers(episodes)
    width = max(2.6, 0.9 + 0.62 * len(designers))
    figure, axes = _panels(1, len(PANELS), (width * len(PANELS), 4.6))
    for panel, metric in zip(axes, PANELS, strict=True):
        _boxes(panel, episodes, metric, designers)
        panel.set_title(metric, loc="left")
        panel.set_xticks(
            range(len(designers)),
            [readable(name) for name in designers],
            rotation=40,
            ha="right",
            rotation_mode="anchor",
        )
    _entitle(figure, "What the reward is made of", _reading(_count(episodes)))
    return figure


def comparison_by(episodes: pd.DataFrame, group: str) -> Figure:
    """Draw the composite reward of every designer within each group, such as a curriculum stage.

    Args:
        episodes: Frames of ``episode_means``, joined, with the column ``group`` beside.
        group: Column to group by.

    Raises:
        ValueError: There is no such column.
    """
    if group not in episodes:
        raise ValueError(f"group: {group!r}; choose one of {', '.join(map(str, episodes))}")
    designers, values = _designers(episodes), sorted(episodes[group].unique())
    figure, axes = _panels(1, 1, (max(5.5, 1.5 + 0.42 * len(designers) * len(values)), 4.8))
    _grouped_boxes(axes[0], episodes, group, designers)
    axes[0].set_ylabel("composite reward R")
    axes[0].set_xlabel(readable(group))
    reading = _reading(_count(episodes, group))
    _entitle(figure, f"Reward by {readable(group)}", reading)
    figure.legend(
        *_legend(axes[0]), loc="outside lower center", ncols=min(5, len(designers)), frameon=False
    )
    return figure


def learning_curves(history: pd.DataFrame) -> Figure:
    """Draw a training run: one panel for each column of ``CURVES`` that the history has.

    Args:
        history: One row for each logged step; ``step``, and columns of ``CURVES``.

    Raises:
        ValueError: There is no ``step``, or nothing to draw.
    """
    shown = [name for name in CURVES if name in history and history[name].notna().any()]
    if "step" not in history or not shown:
        raise ValueError(f"history: give the column step and at least one of {', '.join(CURVES)}")
    columns = min(3, len(shown))
    rows = -(-len(shown) // columns)
    figure, axes = _panels(rows, columns, (3.4 * columns, 2.3 * rows + 0.7))
    window = max(1, len(history) // 20)
    for panel, name in zip(axes, shown, strict=False):
        _curve(panel, history[["step", name]].dropna(), name, window)
    for panel in axes[len(shown) :]:
        panel.remove()
    _entitle(figure, "Training", f"thin: every step · thick: mean of the last {window}")
    return figure


def save(figure: Figure, path: Path) -> None:
    """Write a figure as PNG, 200 dots per inch; at no time is there half a file at ``path``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        figure.savefig(partial, format="png", dpi=200)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _panels(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """Return a figure of empty panels in the common style, and the panels row by row."""
    with sns.axes_style("whitegrid", rc=_STYLE), sns.plotting_context(rc=_STYLE):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel in axes:
        panel.grid(visible=False, axis="x")
        panel.spines[["top", "right", "left"]].set_visible(False)
    return figure, axes


def _entitle(figure: Figure, title: str, reading: str) -> None:
    """Put the title and, smaller, how to read the figure at the top left."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold")
    figure.axes[0].annotate(
        reading, (0.01, 1.0), xycoords="figure fraction", fontsize=8.5, color=_FAINT
    )


def _designers(episodes: pd.DataFrame) -> list[str]:
    return [str(name) for name in episodes["designer"].unique()]


def _count(episodes: pd.DataFrame, *groups: str) -> str:
    """Return how many episodes are behind a box."""
    sizes = episodes.groupby(["designer", *groups]).size()
    low, high = int(sizes.min()), int(sizes.max())
    return f"n = {low} episodes" if low == high else f"n = {low} to {high} episodes"


def _reading(count: str) -> str:
    return f"{count} each · box: quartiles · diamond: mean · dots: episodes"
