"""Kernels that keep the highest amounts of a round in registers: no round sells more units."""

from __future__ import annotations

from typing import TypeAlias

from daedalus.market.jit.compilation import kernel

Highest: TypeAlias = tuple[float, float, float, float, float]
"""The ``MAX_UNITS`` highest amounts so far, best first."""

NOTHING: Highest = (0.0, 0.0, 0.0, 0.0, 0.0)


@kernel
def with_amount(highest: Highest, amount: float) -> Highest:
    """Return the highest amounts once one more, at least 0, is among them."""
    first, second, third, fourth, fifth = highest
    first, amount = max(first, amount), min(first, amount)
    second, amount = max(second, amount), min(second, amount)
    third, amount = max(third, amount), min(third, amount)
    fourth, amount = max(fourth, amount), min(fourth, amount)
    return first, second, third, fourth, max(fifth, amount)


@kernel
def total_of(highest: Highest, units: int) -> float:
    """Return the sum of the K highest amounts."""
    total = 0.0
    for place in range(units):
        total += highest[place]
    return total
