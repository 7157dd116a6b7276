"""Rows of the theory table: when a measurement passes, and what a case is called."""

from __future__ import annotations

import pytest

from daedalus.lab.theory.check_rows import below_row, case_name, near_row, within_row


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
