"""What a seller gains by a bid of its own, against formulas."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.lab.studies.credibility import temptation
from daedalus.lab.theory.distributions import Distribution

EVEN = Distribution(np.array([0.0, 1.0]), np.array([0.0, 1.0]))


@pytest.mark.parametrize("bidders", [2, 3, 5])
def test_second_price_is_not_credible(bidders: int) -> None:
    """The seller bids just below the highest of n even values: it gains E[v1 - v2] = 1/(n + 1)."""
    gain = temptation("second_price", EVEN, bidders, 0.0, 40_000, 0)
    assert gain == pytest.approx(1 / (bidders + 1), abs=0.005)


def test_with_a_reserve_it_gains_what_lies_above_the_price() -> None:
    """With n = 2 and r = 1/2, E[(v1 - max(v2, r))+] = 1/6."""
    gain = temptation("second_price", EVEN, 2, 0.5, 40_000, 0)
    assert gain == pytest.approx(1 / 6, abs=5e-3)


@pytest.mark.parametrize("reserve", [0.0, 0.5])
def test_first_price_is_credible(reserve: float) -> None:
    assert temptation("first_price", EVEN, 3, reserve, 5000, 0) == 0.0
