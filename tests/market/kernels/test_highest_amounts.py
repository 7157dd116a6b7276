"""The highest amounts of a round, against sorting."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.market.kernels.highest_amounts import NOTHING, total_of, with_amount
from daedalus.market.population import MAX_UNITS


@pytest.mark.parametrize("count", [0, 1, MAX_UNITS, 40])
def test_the_highest_amounts_are_those_of_a_sorted_list(count: int) -> None:
    amounts = np.random.default_rng(count).random(count).round(1).tolist()  # some are equal
    highest = NOTHING
    for amount in amounts:
        highest = with_amount(highest, amount)
    best = sorted([*amounts, *NOTHING], reverse=True)[:MAX_UNITS]
    assert list(highest) == best
    for units in range(1, MAX_UNITS + 1):
        assert total_of(highest, units) == pytest.approx(sum(best[:units]))
