"""The check of reserves passes where theory holds, and fails where it does not."""

from __future__ import annotations

import pandas as pd
import pytest

from daedalus.lab.theory import equilibria
from daedalus.lab.theory import figures as theory_figures
from daedalus.lab.theory.revenue_checks import CASES, GRID, best_reserves
from daedalus.lab.theory.theory_market import BIDDERS, RESERVES
from tests.lab.theory.test_bidder_checks import equilibrium_bids


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


def test_figures_draw_every_case() -> None:
    learned = [equilibrium_bids(n, r) for n in BIDDERS for r in RESERVES]
    bids, reserves = (
        theory_figures.learned_bids(learned),
        theory_figures.reserve_curves(exact_curves()),
    )
    assert [panel.get_title(loc="left") for panel in bids.axes] == ["no reserve", "reserve 0.5"]
    names = [{text.get_text() for text in panel.texts} for panel in reserves.axes]
    assert names[0] == {"n = 2", "n = 3", "n = 4", "n = 5"}
    assert names[1] == {"none collude", *(f"{ring} collude" for ring in (2, 3, 4, 5))}
    diamonds = [line.get_xdata()[0] for line in reserves.axes[1].lines if line.get_marker() == "D"]
    assert diamonds == pytest.approx([0.5, 0.539, 0.599, 0.654, 0.699], abs=1e-3)
