"""What every change of one field would gain: whether a mechanism is a local optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pandas as pd

from daedalus.checks import CannotRunError
from daedalus.design.env import DesignEnv
from daedalus.design.search.objective import episode_scores
from daedalus.design.search.space import GRID
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms


def most_frequent(steps: pd.DataFrame) -> tuple[Mechanism, float]:
    """Return the mechanism that a designer sets most often, and its share of all steps.

    Args:
        steps: The frame of ``compare`` for one designer.

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

    Args:
        env: The market, the reward, and which neighbours are allowed.
        mechanism: It is in force for whole episodes.
        episodes: Number of episodes, the same for all.
        seed: Seed of the run.

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
