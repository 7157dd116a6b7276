"""What every change of one field would gain: whether a mechanism is a local optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from daedalus.checks import CannotRunError
from daedalus.design.env import DesignEnv
from daedalus.design.search.objective import episode_scores
from daedalus.design.search.space import GRID
from daedalus.evaluation.basis import over_episodes
from daedalus.evaluation.figures import INK, empty_panels, entitle
from daedalus.evaluation.readable import readable
from daedalus.evaluation.statistics import half_width
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms

_BETTER, _WORSE = "#0072b2", "#8c8c8c"


def most_frequent(steps: pd.DataFrame) -> tuple[Mechanism, float]:
    """Return the mechanism that a designer sets most often, and its share of all steps.

    Steps are those of ``compare`` for one designer.

    Raises:
        CannotRunError: It set no valid mechanism.
    """
    counts = steps[steps["valid"]].groupby(list(FIELDS)).size()
    if not len(counts):
        raise CannotRunError("the designer set no valid mechanism, so it has no neighbours")
    fields = dict(zip(FIELDS, cast(tuple[Any, ...], counts.idxmax()), strict=True))
    return Mechanism(**fields), float(counts.max() / len(steps))


def one_field_gains(env: DesignEnv, mechanism: Mechanism, episodes: int, seed: int) -> pd.DataFrame:
    """Play a mechanism and its neighbours, which have one field at another value of ``GRID``.

    Each is in force for the same whole episodes. ``env`` says which neighbours are allowed.

    Returns:
        A row for each neighbour, the best first: its ``field`` and ``value``, its ``gain``
        over the mechanism, the standard error of that, ``sem``, and the ``count`` of episodes.

    Raises:
        CannotRunError: Every field has one allowed value.
    """
    others = [
        (name, replace(mechanism, **{name: value}))
        for name, values in env.goal.settings(GRID).items()
        for value in values
        if value != getattr(mechanism, name)
    ]
    if not others:
        raise CannotRunError("allowed: it leaves one mechanism, which has no neighbours")
    played = Mechanisms.stack([mechanism, *(each for _, each in others)])
    scores = episode_scores(env, played, episodes, seed, "neighbours")
    gained = scores[1:] - scores[0]
    rows = [
        {"field": name, "value": getattr(each, name), "gain": gain.mean()}
        | {"sem": gain.std(ddof=1) / episodes**0.5, "count": episodes}
        for (name, each), gain in zip(others, gained, strict=True)
    ]
    return pd.DataFrame(rows).sort_values("gain", ascending=False, ignore_index=True)


def gain_bars(gains: pd.DataFrame) -> Figure:
    """Draw the best change of each field of ``one_field_gains``, with its 95 % interval."""
    best = gains.groupby("field", sort=False).head(1)
    places = np.arange(len(best))
    figure, (axes,) = empty_panels(1, 1, (7.2, 1.6 + 0.32 * len(best)))
    colours = [_BETTER if gain > 0 else _WORSE for gain in best["gain"]]
    half = half_width(best["sem"], best["count"], 0.95)
    axes.barh(places, best["gain"], xerr=half, color=colours, height=0.6)
    names = [
        f"{readable(field)}: {readable(value)}"
        for field, value in zip(best["field"], best["value"], strict=True)
    ]
    axes.set_yticks(places, names)
    axes.axvline(0, color=INK, lw=0.8)
    axes.set(ylim=(len(best) - 0.5, -0.5), xlabel="reward gained")
    reading = f"thin lines: {over_episodes(best['count'], 0.95)} · the best of many, so too high"
    entitle(figure, "What the best change of each field gains", reading)
    return figure
