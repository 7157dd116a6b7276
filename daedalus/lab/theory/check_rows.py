"""Rows of the theory table: one number of auction theory and its measurement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

MARKET = "market"
"""The bidders of the strategic market enter and bid."""
RULES = "rules alone"
"""Theory's own bids meet the market's rules of sale: no bidder of the market plays."""


@dataclass(frozen=True)
class Row:
    """One number of theory and its measurement. All numbers have the unit of the quantity.

    Attributes:
        result: Name of the result of theory.
        quantity: Description of the measured quantity.
        theory: Value of the quantity in theory.
        measured: Measured value.
        tolerance: Largest error that passes.
        error: Difference from theory; 0 where theory gives a bound and the bound holds.
        passes: Whether the error is at most the tolerance.
        tests: What is tested, ``MARKET`` or ``RULES``.
    """

    result: str
    quantity: str
    theory: float
    measured: float
    tolerance: float
    error: float
    passes: bool
    tests: str = MARKET


Result = Callable[[int, int], list[Row]]
"""Takes the number of markets E behind each number and the seed of the run; returns rows."""


def within_row(result: str, quantity: str, theory: float, measured: float, tolerance: float) -> Row:
    """Return a row that passes if measurement and theory differ by at most the tolerance."""
    error = abs(measured - theory)
    return Row(result, quantity, theory, measured, tolerance, error, error <= tolerance)


def near_row(result: str, quantity: str, theory: float, measured: float, share: float) -> Row:
    """Return a row that passes if they differ by at most a share of theory's number."""
    return within_row(result, quantity, theory, measured, share * theory)


def below_row(
    result: str, quantity: str, theory: float, measured: float, tolerance: float = 0.0
) -> Row:
    """Return a row that passes if measurement exceeds theory by at most the tolerance."""
    error = max(measured - theory, 0.0)
    return Row(result, quantity, theory, measured, tolerance, error, error <= tolerance)


def of_rules(row: Row) -> Row:
    """Return a row that says that no bidder of the market plays in it."""
    return replace(row, tests=RULES)


def case_name(bidders: int, reserve: float | None = None, ring: int = 1) -> str:
    """Return the description of a case, such as ``5 bidders, ring of 2, reserve 0.5``."""
    words = [f"{bidders} bidders"]
    if ring > 1:
        words.append(f"ring of {ring}")
    if reserve is not None:
        words.append(f"reserve {reserve:g}")
    return ", ".join(words)
