"""One model of many objectives against searches for each: the fronts that they reach."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from daedalus.design.env import DesignEnv, Designer
from daedalus.design.rewards.terms import mean_over_rounds
from daedalus.evaluation.figures import empty_panels, entitle, palette
from daedalus.evaluation.readable import readable
from daedalus.market.seeds import generator, market_seeds

GOALS = ("revenue", "welfare", "fairness")
"""The terms that are traded off against each other."""

PARTS = 4
"""Weights are whole parts of which there are so many."""

_PAIRS = list(combinations(GOALS, 2))  # drawn against each other
_LINK = "#cccccc"
_MARKS = "os^D"


def weightings() -> list[dict[str, float]]:
    """Return all 15 weights of ``GOALS`` that are multiples of 1 / ``PARTS`` and of sum 1.

    A term of weight 0 is left out.
    """
    places = combinations(range(PARTS + len(GOALS) - 1), len(GOALS) - 1)
    bounds = np.array([[-1, *each, PARTS + len(GOALS) - 1] for each in places])
    shares = (np.diff(bounds, axis=1) - 1) / PARTS
    found = [dict(zip(GOALS, row.tolist(), strict=True)) for row in shares[::-1]]
    return [{name: weight for name, weight in each.items() if weight} for each in found]


def reached(
    env: DesignEnv, designers: Mapping[str, Designer], episodes: int, seed: int
) -> pd.DataFrame:
    """Play the designers of one objective; return what each reaches.

    Args:
        env: The market, and the reward that the designers are asked for.
        designers: Designers by name. All play the same markets.
        episodes: Number of episodes of each.
        seed: Seed of the run.

    Returns:
        A row for each designer: ``objective`` (the reward's name), the weights of ``GOALS``
        (``weight_revenue`` and so on), ``designer``, the mean ``reward``, the mean of each of
        ``GOALS``, and their standard errors over episodes (``revenue_sem`` and so on).
    """
    told = {f"weight_{name}": env.reward.weights.get(name, 0.0) for name in GOALS}
    rows = []
    for name, designer in designers.items():
        terms = _terms(env, designer, episodes, seed, name)
        means = terms.mean(axis=1)
        spread = terms.std(axis=1, ddof=1) / terms.shape[1] ** 0.5
        rows.append(
            {"objective": env.reward.name, **told, "designer": name, "reward": means[-1]}
            | dict(zip(GOALS, means, strict=False))
            | {f"{goal}_sem": error for goal, error in zip(GOALS, spread, strict=False)}
        )
    return pd.DataFrame(rows)


def _terms(
    env: DesignEnv, designer: Designer, episodes: int, seed: int, name: str
) -> NDArray[np.float64]:
    """Return the mean of each of ``GOALS``, and of the reward, in each episode; (goals + 1, E)."""
    started = env.reset(market_seeds(seed, "evaluation", episodes))
    total, steps = np.zeros((len(GOALS) + 1, episodes)), np.zeros(episodes)
    for _, _, result in started.play(designer, generator(seed, f"designer/{name}")):
        terms = [mean_over_rounds(goal, result.scored) for goal in GOALS]
        total += np.where(result.running, np.stack([*terms, result.reward]), 0.0)
        steps += result.running
    played = steps > 0
    return np.asarray(total[:, played] / steps[played])


def fronts(table: pd.DataFrame) -> pd.DataFrame:
    """Mark the front of each designer in the frames of ``reached``.

    Returns:
        The same rows with ``front``: whether no other point of the designer is better in one of
        ``GOALS`` and worse in none.
    """
    marks = pd.Series(False, index=table.index)
    for _, rows in table.groupby("designer", sort=False):
        marks[rows.index] = on_front(rows[list(GOALS)].to_numpy(np.float64))
    return table.assign(front=marks)


def on_front(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which of B points no other dominates, shape (B,); more is better."""
    least = (points[:, None] >= points[None]).all(axis=2)
    most = (points[:, None] > points[None]).any(axis=2)
    return np.asarray(~(least & most).any(axis=0))


def hypervolume(points: NDArray[np.float64]) -> float:
    """Return the volume of the points that are dominated, above 0 in each coordinate.

    It is exact: slices along the last coordinate are cut at each point, and each slice is a
    hypervolume of one dimension less. Coordinates have the shape (B, D); negative ones count as 0.
    """
    points = np.maximum(points, 0.0)
    if points.shape[1] == 1:
        return float(points.max(initial=0.0))
    order = points[np.argsort(-points[:, -1])]
    below = np.append(order[1:, -1], 0.0)
    volumes = [hypervolume(order[: row + 1, :-1]) for row in range(len(order))]
    return float(np.sum(volumes * (order[:, -1] - below)))


def volumes(table: pd.DataFrame, reference: str) -> pd.DataFrame:
    """Return the hypervolume of each designer's points.

    Args:
        table: The frames of ``reached`` for all objectives.
        reference: Name of the designer whose volume is the whole.

    Returns:
        A row for each designer: ``designer``, ``hypervolume``, its ``share`` of the reference's,
        and the mean ``reward`` over objectives, each by its own weights.
    """
    rows = table.groupby("designer", sort=False)
    found = rows[list(GOALS)].apply(lambda each: hypervolume(each.to_numpy(np.float64)))
    frame = pd.DataFrame({"hypervolume": found, "share": found / found[reference]})
    return frame.assign(reward=rows["reward"].mean()).reset_index()


def front_panels(table: pd.DataFrame, shares: pd.DataFrame) -> Figure:
    """Draw each pair of goals: a point of ``fronts`` for each objective and designer.

    A thin line joins the points of one objective. Points on the front of their designer are filled.
    Shares are those of ``volumes``.
    """
    figure, panels = empty_panels(1, len(_PAIRS), (4.0 * len(_PAIRS), 4.8))
    for panel, (across, up) in zip(panels, _PAIRS, strict=True):
        for _, rows in table.groupby("objective", sort=False):
            panel.plot(rows[across], rows[up], color=_LINK, lw=0.8, zorder=1)
        _points(panel, table, across, up)
        panel.grid(visible=True, axis="x")
        panel.set(xlabel=across, ylabel=up)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    named = zip(shares["designer"], shares["share"], strict=True)
    told = [f"{readable(name)} {100 * share:.0f} %" for name, share in named]
    reading = "a line joins the points of one objective; filled: on the designer's own front; "
    entitle(figure, "What each objective reaches", f"{reading}hypervolume: {', '.join(told)}")
    return figure


def _points(panel: Axes, table: pd.DataFrame, across: str, up: str) -> None:
    colours = palette(list(table["designer"].unique()))
    groups = table.groupby("designer", sort=False)
    for mark, (name, rows) in zip(_MARKS * len(colours), groups, strict=False):
        colour = colours[str(name)]
        faces = [colour if front else "white" for front in rows["front"]]
        shape: dict[str, Any] = {"s": 34, "marker": mark, "edgecolors": colour, "zorder": 2}
        panel.scatter(rows[across], rows[up], c=faces, **shape)
        panel.scatter([], [], c=colour, label=readable(name), **shape)
