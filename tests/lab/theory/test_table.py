"""The strategic market against auction theory."""

from __future__ import annotations

import pandas as pd
import pytest

from daedalus.lab.theory.bidder_checks import learn_to_shade, shading_of_any_values
from daedalus.lab.theory.check_rows import (
    MARKET,
    RULES,
    below_row,
    case_name,
    near_row,
    within_row,
)
from daedalus.lab.theory.revenue_checks import reserve_curves
from daedalus.lab.theory.table import RESULTS, theory_table
from daedalus.lab.theory.theory_market import BIDDERS, RESERVES


def measured(episodes: int, seed: int) -> pd.DataFrame:
    cases = [(bidders, reserve) for bidders in BIDDERS for reserve in RESERVES]
    learned = [learn_to_shade(*case, episodes, seed) for case in cases]
    curves = reserve_curves(episodes, seed)
    quick = [each for each in RESULTS if each is not shading_of_any_values]
    table = theory_table(learned, curves, quick, episodes, seed)
    slow = shading_of_any_values(episodes // 10, seed)  # a round takes 30 times as long
    return pd.concat([table, pd.DataFrame(slow)], ignore_index=True)


@pytest.mark.slow
def test_the_market_obeys_theory_at_another_seed() -> None:
    table = measured(episodes=60, seed=1)  # tests/test_golden.py runs seed 0, on fewer
    assert table["passes"].all(), table[~table["passes"]].to_string()
    assert table["result"].nunique() == 16 and len(table) == 86
    alone = table[table["tests"] == RULES]
    assert set(alone["result"]) == {"vcg: truth is dominant", "entry", "revenue of K units"}
    assert len(alone) == 7 and set(table["tests"]) == {RULES, MARKET}


@pytest.mark.parametrize(("measured", "passes"), [(0.54, True), (0.46, True), (0.56, False)])
def test_a_measurement_passes_within_the_tolerance(measured: float, passes: bool) -> None:
    row = within_row("result", "quantity", 0.5, measured, 0.05)
    assert row.passes == passes
    assert row.error == pytest.approx(abs(measured - 0.5))
    same = near_row("result", "quantity", 0.5, measured, 0.1)  # a share of theory's number
    assert (same.passes, same.tolerance) == (passes, pytest.approx(0.05))


@pytest.mark.parametrize(("measured", "passes"), [(0.1, True), (0.52, True), (0.56, False)])
def test_below_a_bound_there_is_no_error(measured: float, passes: bool) -> None:
    row = below_row("result", "quantity", 0.5, measured, 0.05)
    assert row.passes == passes
    assert row.error == pytest.approx(max(measured - 0.5, 0.0))


def test_a_case_names_what_is_special() -> None:
    assert case_name(5) == "5 bidders"
    assert case_name(5, 0.5, 2) == "5 bidders, ring of 2, reserve 0.5"
    assert case_name(3, 0.0) == "3 bidders, reserve 0"
