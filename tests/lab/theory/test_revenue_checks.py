"""The check of reserves passes where theory holds, and fails where it does not."""

from __future__ import annotations

import pandas as pd

from daedalus.lab.theory import equilibria
from daedalus.lab.theory.revenue_checks import CASES, GRID, best_reserves


def exact_curves() -> pd.DataFrame:
    """Return what ``reserve_curves`` would return without noise."""
    rows = [
        {"bidders": bidders, "ring": ring, "reserve": reserve}
        | {"revenue": equilibria.expected_revenue(bidders, reserve, ring)}
        for bidders, ring in CASES
        for reserve in GRID
    ]
    return pd.DataFrame(rows)


def test_curves_of_theory_pass() -> None:
    assert all(row.passes for row in best_reserves(exact_curves()))


def test_curves_of_rings_without_effect_fail() -> None:
    curves = exact_curves()
    without_ring = curves[(curves["bidders"] == 5) & (curves["ring"] == 1)]["revenue"].to_numpy()
    for ring in range(2, 6):
        curves.loc[curves["ring"] == ring, "revenue"] = without_ring
    rows = best_reserves(curves)
    assert [row.passes for row in rows] == [True] * 4 + [False] * 4
