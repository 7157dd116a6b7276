"""Behaviour of a designer: its mechanisms and rewards beside the bidders of each episode."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from daedalus.design.env import DesignEnv, Designer
from daedalus.evaluation.episodes import compare
from daedalus.market.interface import types_of_bidders
from daedalus.market.lineup import draw_lineup
from daedalus.market.mechanism import CHOICES, FIELDS
from daedalus.market.population import Population
from daedalus.market.seeds import market_seeds

PRESENT = {"may_collude": "collude", "may_withdraw": "withdraw", "may_shill": "shill"}
"""Columns that count the bidders of an episode with a strategy, and the strategy of each."""

_SINCE = 4  # in earlier steps the designer has seen little of the bidders


def decisions(
    env: DesignEnv, designers: Mapping[str, Designer], episodes: int, seed: int
) -> pd.DataFrame:
    """Let designers play the same markets, and record the mechanisms and rewards of each.

    Args:
        env: A strategic market.
        designers: Designers by name.
        episodes: Number of episodes of each.
        seed: Seed of the run.

    Returns:
        A row for each designer, episode and step: ``designer``, ``episode``, ``step`` (from 1),
        ``reward`` in [0, 1], the columns of ``PRESENT`` (numbers of bidders), and the eleven
        fields, which are NaN for a malformed proposal.
    """
    seeds = market_seeds(seed, "evaluation", episodes)
    present = _present(types_of_bidders(env.market), seeds)
    joined = compare(env, designers, episodes, seed).join(present, on="episode")
    columns = ["designer", "episode", "step", "reward", *PRESENT, *FIELDS]
    return joined.sort_values(columns[:3], ignore_index=True)[columns]


def settings_by_presence(table: pd.DataFrame, designer: str, present: str) -> pd.DataFrame:
    """Average a designer's settings over the episodes with the same number of some bidders.

    The table is that of ``decisions``, and ``present`` is one of ``PRESENT``.

    Returns:
        A row for each number of such bidders, which is its index: means of numbers and flags, the
        share of each word of a choice in the column ``FIELD=WORD``, and the number of ``episodes``.
    """
    rows = table[(table["designer"] == designer) & (table["step"] >= _SINCE)]
    numbers = rows.drop(columns=[*CHOICES, "designer"]).astype(float)
    words = {
        f"{field}={word}": (rows[field] == word) * 1.0
        for field, known in CHOICES.items()
        for word in known
    }
    groups = numbers.assign(**words).groupby(rows[present])
    return groups.mean().assign(episodes=groups["episode"].nunique())


def advantage(table: pd.DataFrame, designer: str, other: str, by: str) -> pd.DataFrame:
    """Return the difference in R of two designers over groups of episodes of ``decisions``.

    It is paired by episode. ``by`` is a column of which an episode has one value, such as one of
    ``PRESENT``.

    Returns:
        A row for each of its values, which is the index: ``mean`` of R minus the other's R over
        episodes, its standard error ``sem`` and the ``count`` of episodes.
    """
    wide = table.pivot_table(index=["episode", by], columns="designer", values="reward")
    difference = (wide[designer] - wide[other]).groupby(level=by)
    return difference.agg(["mean", "sem", "count"])


def _present(population: Population, seeds: NDArray[np.uint64]) -> pd.DataFrame:
    lineup = draw_lineup(population, seeds)
    present = np.arange(population.most_bidders) < lineup.bidders[:, None]
    menus = [each.menu for each in population.types.values()]
    can = {
        column: np.array([strategy in menu for menu in menus])
        for column, strategy in PRESENT.items()
    }
    return pd.DataFrame(
        {column: (able[lineup.kinds] & present).sum(axis=1) for column, able in can.items()}
    )
