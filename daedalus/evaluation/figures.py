"""Figures of evaluations and of training, and their common style.

Figures need no display: they are ``Figure`` objects on the Agg canvas.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from daedalus.evaluation.basis import COLUMN, caution, cautions
from daedalus.evaluation.episodes import COMPOSITE
from daedalus.evaluation.readable import readable

matplotlib.rcParams["text.parse_math"] = False  # names of designers and folders may have any sign

PANELS = ("welfare", "fairness", "participation", "stability", "reward")
"""Metrics that ``metric_panels`` shows, in this order."""

REWARDS = {
    "reward_sampled": "sampled answers",
    "reward_neighbours": "neighbours",
}
"""Columns that share the panel of ``reward`` if a history has them, and their names there."""

CURVES = {
    "reward": "reward",
    "reward_std": "reward, std within groups",
    "entropy": "entropy, nats per token or choice",
    "grad_norm": "gradient norm",
    "completion_length": "completion length, tokens",
    "validity": "share of valid mechanisms",
    "rules_kept": "answers that keep all rules",
    "sentences_read": "share of sentences read right",
    "composite": "composite R",
    "frac_reward_zero_std": "share of groups with equal rewards",
    "loss": "loss",
}
"""Columns that ``learning_curves`` shows, in this order, and their titles."""

_NAMED = {
    "random": "#8c8c8c",
    "random_published": "#bdb5a6",
    "informed_greedy": "#e69f00",
    "heuristic": "#cc79a7",
    "search": "#009e73",
    "best_own": "#009e73",
    "best_overall": "#56b4e9",
    "trained": "#0072b2",
    "untrained": "#88ccee",
    "language_model": "#332288",
}
_OTHERS = ("#d55e00", "#7a5195", "#b8a000", "#4d4d4d", "#882255", "#44aa99")
_ORIGINS = (_NAMED["trained"], _NAMED["informed_greedy"], _NAMED["heuristic"])
INK = "#333333"
FAINT = "#777777"
_STYLE = {
    "axes.edgecolor": "#bbbbbb",
    "axes.labelcolor": INK,
    "axes.titlesize": 10.5,
    "axes.labelsize": 9.5,
    "grid.color": "#e8e8e8",
    "xtick.color": INK,
    "ytick.color": FAINT,
    "xtick.labelsize": 9,
    "ytick.labelsize": 8.5,
}
MOST_DOTS = 200
"""Most episodes of a designer that are drawn as dots."""

_GOLDEN = 0.618034
_LONG = 180  # seconds; phases that take longer are shown in minutes
_MARGIN, _HEADER = 0.1, 0.62  # inches around a figure, and above its panels for the title


def palette(designers: Sequence[str]) -> dict[str, str]:
    """Return a colour for each designer, the same in every figure.

    Readers with any colour vision can tell the hues apart (Okabe & Ito 2008, and similar hues of
    Paul Tol). Common designers have fixed colours; others get the rest in alphabetical order.
    """
    others = sorted(set(designers) - set(_NAMED))
    extra = {name: _OTHERS[index % len(_OTHERS)] for index, name in enumerate(others)}
    return {name: _NAMED.get(name) or extra[name] for name in designers}


def reward_boxplot(episodes: pd.DataFrame, title: str) -> Figure:
    """Draw each designer's reward over the episodes of ``episode_means``."""
    designers = _designers(episodes)
    figure, axes = empty_panels(1, 1, (max(5.0, 1.5 + 1.35 * len(designers)), 4.6))
    _boxes(axes[0], episodes, "reward")
    labels = [textwrap.fill(readable(name), 12) for name in designers]
    axes[0].set_xticks(range(len(designers)), labels)
    axes[0].set_ylabel(_reward_name(episodes))
    entitle(figure, title, _reading(episodes))
    return figure


def metric_panels(episodes: pd.DataFrame) -> Figure:
    """Draw the reward and its factors in ``episode_means``: boxes for each of ``PANELS``."""
    designers = _designers(episodes)
    width = max(2.3, 0.8 + 0.42 * len(designers))
    figure, axes = empty_panels(1, len(PANELS), (width * len(PANELS), 4.6))
    for panel, metric in zip(axes, PANELS, strict=True):
        _boxes(panel, episodes, metric)
        panel.set_title(metric, loc="left")
        panel.set_xticks(
            range(len(designers)),
            [_short(readable(name)) for name in designers],
            rotation=40,
            ha="right",
            rotation_mode="anchor",
        )
    entitle(figure, "The reward and its factors", _reading(episodes))
    return figure


def learning_curves(history: pd.DataFrame, taught: pd.DataFrame | None = None) -> Figure:
    """Draw a training run: one panel for each column of ``CURVES`` that the history has.

    The reward is that of the sampled answers. What was added to them has a line of its own. R has
    no panel beside the reward if it is the reward.

    Args:
        history: One row for each logged step, with ``step`` and columns of ``CURVES``.
        taught: The same of SFT, whose loss gets the last panel.

    Raises:
        ValueError: There is no column ``step``, or no column to draw.
    """
    shown = [
        name for name in CURVES if _has_values(history, name) and not _is_reward(history, name)
    ]
    if "step" not in history or not shown:
        raise ValueError(f"history: give the column step and at least one of {', '.join(CURVES)}")
    with_sft = taught is not None and _has_values(taught, "loss")
    count = len(shown) + with_sft
    columns = min(3, count)
    rows = -(-count // columns)
    figure, axes = empty_panels(rows, columns, (max(4.2, 3.4 * columns), 2.2 * rows + 0.8))
    for panel, name in zip(axes, shown, strict=False):
        _panel(panel, history, name)
    if taught is not None and with_sft:
        _curve(axes[len(shown)], taught, "loss")
        axes[len(shown)].set_title("loss of SFT", loc="left")
    for panel in axes[count:]:
        panel.remove()
    entitle(figure, "Training", f"light: as logged · dark: mean of the last {_window(history)}")
    return figure


def reward_scatter(panels: Mapping[str, NDArray[np.float64]], truth: NDArray[np.float64]) -> Figure:
    """Draw single training rewards over the expected rewards of the mechanisms.

    Args:
        panels: Rewards by the name of the recipe, each of shape (groups, group size).
        truth: Expected rewards in the states of the prompts, of the same shape.
    """
    figure, axes = empty_panels(1, len(panels), (4.2 * len(panels), 4.6))
    expected = (truth - truth.mean(axis=1, keepdims=True)).ravel()
    for panel, (name, rewards) in zip(axes, panels.items(), strict=True):
        advantage = (rewards - rewards.mean(axis=1, keepdims=True)).ravel()
        correlation = np.corrcoef(expected, advantage)[0, 1]
        panel.axline((0, 0), slope=1, color=FAINT, lw=0.8)
        panel.scatter(expected, advantage, s=9, color=_NAMED["trained"], alpha=0.4, lw=0)
        panel.set_title(f"{name}: r = {correlation:.2f}", loc="left")
        panel.set(xlabel="expected reward", ylabel="one training reward")
        panel.set(xlim=(-0.5, 0.5), ylim=(-0.7, 0.7))
    entitle(figure, "Noise of GRPO's rewards", "dot: a mechanism's reward minus its group's mean")
    return figure


def phase_bars(table: pd.DataFrame) -> Figure:
    """Draw ``wall_seconds`` and ``cpu_seconds`` of each ``phase`` of a run."""
    figure, (axes,) = empty_panels(1, 1, (6.4, 1.5 + 0.5 * len(table)))
    places, spent = np.arange(len(table)), table[["wall_seconds", "cpu_seconds"]]
    long = spent.to_numpy().max() > _LONG
    for name, shift, colour in (("wall", -0.18, _NAMED["trained"]), ("cpu", 0.18, "#88ccee")):
        bars = axes.barh(
            places + shift, spent[f"{name}_seconds"] / (60 if long else 1), 0.34, color=colour
        )
        axes.bar_label(bars, fmt="%.1f", padding=3, fontsize=8, color=FAINT)
    axes.set_yticks(places, table["phase"])
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.grid(visible=True, axis="x")
    axes.margins(x=0.08)
    axes.set_xlabel("minutes" if long else "seconds")
    entitle(figure, "Time by phase", "dark: on the clock · light: of all cores")
    return figure


def empty_panels(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[Axes]]:
    """Return a figure with empty panels in the common style, and the panels row by row."""
    with sns.axes_style("whitegrid", rc=_STYLE), sns.plotting_context(rc=_STYLE):
        figure = Figure(figsize=size)
        FigureCanvasAgg(figure)
        across, up = _MARGIN / size[0], _MARGIN / size[1]
        inside = (across, up, 1 - 2 * across, 1 - 2 * up - _HEADER / size[1])
        figure.set_layout_engine("constrained", rect=inside, wspace=0.04, hspace=0.06)
        axes = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel in axes:
        panel.grid(visible=False, axis="x")
        panel.spines[["top", "right", "left"]].set_visible(False)
    return figure, axes


def heat_map(
    axes: Axes,
    table: pd.DataFrame,
    top: float,
    text: Callable[[float], str] = "{:.2f}".format,
    rotation: float = 25,
) -> None:
    """Draw a table as a heat map with a text in each cell; name its rows and columns.

    Args:
        axes: The panel.
        table: Numbers from 0 up; cells without a number stay empty.
        top: Number of the darkest blue.
        text: Returns the text of a number.
        rotation: Degrees by which names are turned.
    """
    axes.imshow(table, cmap="Blues", vmin=0, vmax=top, aspect="auto")
    for (row, column), value in np.ndenumerate(table.to_numpy()):
        ink = "white" if value > 0.6 * top else INK
        axes.text(column, row, text(value), ha="center", va="center", fontsize=8.5, color=ink)
    names = [readable(str(name)) for name in table.columns]
    side = "right" if rotation else "center"
    axes.set_xticks(range(len(names)), names, rotation=rotation, ha=side)
    axes.set_yticks(range(len(table)), [readable(str(name)) for name in table.index])
    axes.grid(visible=False)


def interval_bars(axes: Axes, rows: pd.DataFrame, column: str) -> None:
    """Draw a column of the rows, one for each ``designer``, as a tick on its interval.

    The word of an interval that may be too short stands beside it, see ``basis``.
    """
    for place, colour in enumerate(palette(list(rows["designer"])).values()):
        value, low, high = rows.iloc[place][[column, f"{column}_low", f"{column}_high"]]
        axes.barh(place, high - low, left=low, height=0.5, color=colour, alpha=0.4)
        axes.plot(value, place, "|", ms=13, mew=2.6, color=colour)
        word = caution(rows.iloc[place].get(f"{column}{COLUMN}"))
        axes.text(high, place, f" {word}", va="center", fontsize=8, color=FAINT)


def interval_dots(
    axes: Axes, rows: pd.DataFrame, column: str, places: ArrayLike, fmt: str = "o", **style: Any
) -> None:
    """Draw a column of the rows as dots with intervals, at places up the panel, shape (n,).

    A dot whose interval may be too short has a white centre, see ``basis``.
    """
    values, ends = rows[column], rows[[f"{column}_low", f"{column}_high"]]
    halves = ends.sub(values, axis=0).abs().to_numpy().T
    axes.errorbar(values, places, xerr=halves, fmt=fmt, **style)
    marked = [bool(caution(text)) for text in rows.get(f"{column}{COLUMN}", [])]
    if any(marked):
        centre: dict[str, Any] = {"ms": 2.5, "color": "white", "zorder": 5}
        axes.plot(values[marked], np.asarray(places)[marked], "o", **centre)


def legend_below(figure: Figure, panel: Axes, columns: int, side: str = "center") -> None:
    """Write the legend of a panel, which holds for all, below the panels."""
    handles, labels = panel.get_legend_handles_labels()
    style: dict[str, Any] = {"ncols": columns, "frameon": False, "fontsize": 9}
    figure.legend(handles, labels, loc=f"outside lower {side}", **style)


def entitle(figure: Figure, title: str, reading: str, texts: Iterable[object] = ()) -> None:
    """Write the title at the top left and, below it in small print, the legend of the figure.

    ``texts`` are the ``basis`` of its intervals. Each word of caution in them is explained in a
    line of its own.
    """
    width, height = figure.get_size_inches()
    left = _MARGIN / width
    figure.text(
        left, 1 - 0.12 / height, title, va="top", fontsize=12.5, fontweight="bold", color=INK
    )
    shown = "\n".join([reading, *cautions(texts)])
    figure.text(left, 1 - 0.40 / height, shown, va="top", fontsize=8.5, color=FAINT)


def _designers(episodes: pd.DataFrame) -> list[str]:
    return [str(name) for name in episodes["designer"].unique()]


def _short(name: str) -> str:
    """Return a name that leaves room for panels, whatever its length."""
    return name if len(name) <= 22 else f"{name[:21]}…"


def _reading(episodes: pd.DataFrame) -> str:
    """Return the legend of boxes, with their number of episodes."""
    sizes = episodes.groupby("designer").size()
    low, high = int(sizes.min()), int(sizes.max())
    count = f"n = {low} episodes" if low == high else f"n = {low} to {high} episodes"
    dots = "episodes" if high <= MOST_DOTS else f"the first {MOST_DOTS} episodes"
    return f"{count} each · box: quartiles · diamond: mean · dots: {dots}"


def _boxes(axes: Axes, episodes: pd.DataFrame, metric: str) -> None:
    """Draw one metric: quartiles, whiskers at 1.5 IQR, mean, and dots of the first episodes."""
    colours = palette(_designers(episodes))
    mean = {"marker": "D", "mfc": "white", "mec": INK, "ms": 5.5, "zorder": 6}
    for place, (name, colour) in enumerate(colours.items()):
        values = episodes.loc[episodes["designer"] == name, metric].dropna().to_numpy(np.float64)
        if not len(values):
            continue
        line = {"color": colour, "linewidth": 1.4}
        box: dict[str, Any] = {"positions": [place], "widths": 0.55, "showfliers": False}
        box |= {f"{part}props": line for part in ("box", "whisker", "cap", "median")}
        axes.boxplot(values, **box, showmeans=True, meanprops=mean)
        first = values[:MOST_DOTS]
        beside = (np.arange(len(first)) * _GOLDEN) % 1.0 - 0.5  # even, and the same in each picture
        axes.scatter(place + 0.4 * beside, first, s=7, color=colour, alpha=0.6, lw=0)
    axes.set_xlim(-0.5, len(colours) - 0.5)
    _limit(axes, episodes[metric].to_numpy(np.float64))


def _reward_name(table: pd.DataFrame) -> str:
    return "reward" if COMPOSITE in table else "composite reward R"


def _limit(axes: Axes, values: NDArray[np.float64]) -> None:
    """Fit the vertical axis to a metric, most of which are in [0, 1]; its range is at least 0.1."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    margin = max(0.06 * (high - low), 0.5 * (0.1 - (high - low)), 0.01)
    bottom, top = (-0.02, 1.02) if 0.0 <= low and high <= 1.0 else (-np.inf, np.inf)
    axes.set_ylim(max(low - margin, bottom), min(high + margin, top))


def _window(history: pd.DataFrame) -> int:
    """Return the steps of a running mean."""
    return max(5, len(history) // 20)


def _has_values(history: pd.DataFrame, name: str) -> bool:
    return name in history and bool(history[name].notna().any())


def _is_reward(history: pd.DataFrame, name: str) -> bool:
    """Return whether a column is R, and R is the reward."""
    means = [each for each in ("reward", "reward_sampled") if each in history]
    return name == "composite" and any(np.allclose(history[name], history[each]) for each in means)


def _panel(axes: Axes, history: pd.DataFrame, name: str) -> None:
    """Draw one panel; that of the reward has a line for each origin of answers."""
    origins = [each for each in REWARDS if _has_values(history, each)] if name == "reward" else []
    for each, colour in zip(origins or [name], _ORIGINS, strict=False):
        _curve(axes, history, each, colour, REWARDS.get(each))
    axes.set_title(CURVES[name], loc="left")
    if origins:
        axes.legend(loc="lower right", fontsize=8, frameon=False)


def _curve(
    axes: Axes,
    history: pd.DataFrame,
    name: str,
    colour: str = _ORIGINS[0],
    label: str | None = None,
) -> None:
    """Draw one column of a history in a light colour, and its running mean in a dark one."""
    points, window = history[["step", name]].dropna(), _window(history)
    mean = points[name].rolling(window, min_periods=window // 2).mean()
    axes.plot(points["step"], points[name], color=colour, alpha=0.3, lw=0.8)
    axes.plot(points["step"], mean, color=colour, lw=1.8, label=label)
    axes.set_xlabel("step")
    axes.margins(x=0.02)
