"""What a designer has understood: its mechanisms, when they settle, and what its errors cost.

Tables are frames of ``decisions`` with the column ``population``.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from daedalus.design.env import DesignEnv, Designer
from daedalus.market.mechanism import FIELDS, Mechanisms
from daedalus.market.seeds import generator, market_seeds

_EPISODE = ["population", "designer", "episode"]


def settled_steps(table: pd.DataFrame) -> pd.DataFrame:
    """Return the step of each episode from which the designer's mechanism stays as it is.

    Args:
        table: Frames of ``decisions`` with the column ``population``.

    Returns:
        A row for each ``population``, ``designer`` and ``episode``: ``settled``, the first step
        (from 1) of the mechanism that the episode ends with, if no other follows.
    """
    rows = table.sort_values([*_EPISODE, "step"])
    now, before = rows[list(FIELDS)], rows.groupby(_EPISODE)[list(FIELDS)].shift()
    same = ((now == before) | (now.isna() & before.isna())).all(axis=1)
    changed = rows["step"].where(~same | rows["step"].eq(1), 0)
    settled = changed.groupby([rows[key] for key in _EPISODE], sort=False).max()
    return settled.rename("settled").reset_index()


def losses(table: pd.DataFrame, designer: str, reference: str) -> pd.DataFrame:
    """Return what a designer loses to a reference before and after its mechanism has settled.

    Args:
        table: Frames of ``decisions`` with the column ``population``.
        designer: Name of the designer.
        reference: Name of a designer that knows the population, such as ``best_own``.

    Returns:
        A row for each population, which is its index: mean reward lost an episode ``before`` and
        ``after`` settling, which add up to the difference in R; the standard error of the sum
        (``sem``) and the ``count`` of episodes behind it; the median ``settled`` step, and its
        quartiles ``early`` and ``late``.
    """
    wide = table.pivot(
        index=["population", "episode", "step"], columns="designer", values="reward"
    ).reset_index()
    steps = settled_steps(table[table["designer"] == designer])
    wide = wide.merge(steps.drop(columns="designer"), on=["population", "episode"])
    lost = (wide[reference] - wide[designer]) / wide["step"].max()
    early = wide["step"] < wide["settled"]
    parts = wide.assign(before=lost.where(early, 0.0), after=lost.where(~early, 0.0), lost=lost)
    sums = parts.groupby(["population", "episode"], sort=False)[["before", "after", "lost"]].sum()
    groups = sums.groupby("population", sort=False)
    result = groups[["before", "after"]].mean().join(groups["lost"].agg(["sem", "count"]))
    quantiles = (
        steps.groupby("population")["settled"].quantile(np.array([0.25, 0.5, 0.75])).unstack()
    )
    quantiles.columns = pd.Index(["early", "settled", "late"])
    return result.join(quantiles)


def choices(table: pd.DataFrame, designer: str, most: int = 6) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return how often a designer plays each of its mechanisms, by population and step.

    Args:
        table: Frames of ``decisions`` with the column ``population``.
        designer: Name of the designer.
        most: Number of mechanisms that get a name, the most frequent first: A, B, C.

    Returns:
        Shares by population and step (index) and name (columns, with ``others``), and the
        mechanisms: a row of fields for each name.
    """
    mine = table[table["designer"] == designer]
    counts = mine.groupby(list(FIELDS), dropna=False).size().sort_values(ascending=False)
    named = counts.index.to_frame(index=False).head(most)
    named.index = pd.Index([chr(ord("A") + row) for row in range(len(named))], name="mechanism")
    labelled = mine.merge(named.reset_index(), on=list(FIELDS), how="left")
    names = labelled["mechanism"].fillna("others")
    shares = pd.crosstab([labelled["population"], labelled["step"]], names, normalize="index")
    return shares.reindex(columns=[*named.index, "others"], fill_value=0.0), named


def changed_fields(
    env: DesignEnv, designer: Designer, before: Designer, episodes: int, seed: int
) -> pd.DataFrame:
    """Return where two designers decide differently in the same states.

    ``designer`` plays the episodes. ``before`` is asked in each state, and does not play.

    Returns:
        A row for each episode and step: ``step`` (from 1), whether the decisions differ in
        anything (``any``), and in each of the eleven fields.
    """
    rng, other = generator(seed, "changed"), generator(seed, "changed/before")
    states = env.reset(market_seeds(seed, "evaluation", episodes))
    frames = []
    for observation, mine, _ in states.play(designer, rng):
        differ = _differences(mine, before.propose(observation, other))
        frames.append(differ.assign(step=observation.round_number + 1))
    return pd.concat(frames, ignore_index=True)


def _differences(first: Mechanisms, second: Mechanisms) -> pd.DataFrame:
    differ = pd.DataFrame({name: getattr(first, name) != getattr(second, name) for name in FIELDS})
    differ |= np.not_equal(first.malformed, second.malformed)[:, None]
    return differ.assign(any=differ.any(axis=1))
