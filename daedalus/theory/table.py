"""A table of auction theory and measurement: does the strategic market obey the theory?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from daedalus.theory.bidding import (
    Learned,
    budgets,
    entry,
    revenue_equivalence,
    shading,
    truth_is_dominant,
)
from daedalus.theory.revenue import (
    best_reserves,
    demand_reduction,
    reserve_prices,
    several_units,
)
from daedalus.theory.rings import (
    cover_bids,
    outsiders_of_a_ring,
    ring_revenue,
    ring_welfare,
    shill_is_a_reserve,
)
from daedalus.theory.rows import Result

RESULTS: tuple[Result, ...] = (
    reserve_prices,
    several_units,
    demand_reduction,
    truth_is_dominant,
    shill_is_a_reserve,
    entry,
    budgets,
    ring_revenue,
    ring_welfare,
    outsiders_of_a_ring,
    cover_bids,
)
"""Tests that play their own markets, in the order of the table."""


def theory_table(
    learned: Sequence[Learned],
    curves: pd.DataFrame,
    results: Iterable[Result],
    episodes: int,
    seed: int,
) -> pd.DataFrame:
    """Return a row for each number of theory; the columns are the attributes of ``Row``.

    Args:
        learned: Results of ``learn_to_shade`` for each number of bidders and reserve.
        curves: The frame of ``reserve_curves``.
        results: The other tests to run, ``RESULTS`` for all.
        episodes: Number of markets E behind each of their numbers.
        seed: Seed of the run.
    """
    rows = shading(learned) + revenue_equivalence(learned)
    for result in results:
        rows += result(episodes, seed)
    return pd.DataFrame(rows + best_reserves(curves))
