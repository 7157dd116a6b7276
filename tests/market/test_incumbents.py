"""The mechanism in force when a designer takes over: drawn evenly, by the seed alone."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_array_equal

from daedalus.market.interface import draw_incumbents
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import market_seeds

KNOWN = [Mechanism(reserve_price=reserve) for reserve in (0.0, 0.1, 0.2)]
STACKED = Mechanisms.stack(KNOWN)
SEEDS = market_seeds(1, "incumbents", 3_000)


def test_each_incumbent_is_as_likely() -> None:
    drawn = draw_incumbents(STACKED, SEEDS).reserve_price
    counts = [(drawn == each.reserve_price).sum() for each in KNOWN]
    assert sum(counts) == len(SEEDS)
    assert np.abs(np.array(counts) - 1000).max() < 4.5 * 1000**0.5


def test_an_incumbent_depends_on_the_seed_alone() -> None:
    drawn = draw_incumbents(STACKED, SEEDS).reserve_price
    assert_array_equal(draw_incumbents(STACKED, SEEDS[::-1]).reserve_price, drawn[::-1])
    assert draw_incumbents(STACKED, SEEDS[7:8])[0].reserve_price == drawn[7]
