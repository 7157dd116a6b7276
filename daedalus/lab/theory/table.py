"""A table of auction theory and measurement: does the strategic market obey the theory?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from daedalus.lab.theory import bidding, revenue, rings
from daedalus.lab.theory.rows import Result

RESULTS: tuple[Result, ...] = (
    revenue.reserve_prices,
    revenue.several_units,
    revenue.demand_reduction,
    bidding.shading_of_any_values,
    bidding.truth_is_dominant,
    rings.shill_is_a_reserve,
    bidding.entry,
    bidding.budgets,
    rings.ring_revenue,
    rings.ring_welfare,
    rings.outsiders_of_a_ring,
    rings.cover_bids,
)
"""Tests that play their own markets, in the order of the table."""


def theory_table(
    learned: Sequence[bidding.Learned],
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
    rows = bidding.shading(learned) + bidding.revenue_equivalence(learned)
    for result in results:
        rows += result(episodes, seed)
    return pd.DataFrame(rows + revenue.best_reserves(curves))
