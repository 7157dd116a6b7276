"""A table of auction theory and measurement: does the strategic market obey the theory?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from daedalus.lab.theory import bidder_checks, revenue_checks, ring_checks
from daedalus.lab.theory.check_rows import Result

RESULTS: tuple[Result, ...] = (
    revenue_checks.reserve_prices,
    revenue_checks.several_units,
    revenue_checks.demand_reduction,
    bidder_checks.shading_of_any_values,
    bidder_checks.truth_is_dominant,
    ring_checks.shill_is_a_reserve,
    bidder_checks.entry,
    bidder_checks.budgets,
    ring_checks.ring_revenue,
    ring_checks.ring_welfare,
    ring_checks.outsiders_of_a_ring,
    ring_checks.cover_bids,
)
"""Tests that play their own markets, in the order of the table."""


def theory_table(
    learned: Sequence[bidder_checks.Learned],
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
    rows = bidder_checks.shading(learned) + bidder_checks.revenue_equivalence(learned)
    for result in results:
        rows += result(episodes, seed)
    return pd.DataFrame(rows + revenue_checks.best_reserves(curves))
