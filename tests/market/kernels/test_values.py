"""Values and equilibrium bids of the kernels against plain formulas, for any distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import njit

from daedalus.market.kernels.records import BIDDER
from daedalus.market.kernels.values import (
    expected_rent,
    level_of,
    shaded_bid,
    value_at,
    value_behind,
)
from daedalus.market.population import BidderType
from daedalus.market.strategic import type_columns
from daedalus.market.value_distribution import ValueDistribution
from tests.market.reference_values import Values
from tests.market.strategic_markets import random_values


@njit(error_model="numpy")  # type: ignore[untyped-decorator]
def _all(
    types: Any, bidders: Any, level: float, value: float, rivals: float, reserve: float
) -> Any:
    t, bidder = types[0], bidders[0]
    return (
        value_at(t, bidder, level),
        level_of(t, bidder, value),
        shaded_bid(t, bidder, value, rivals, reserve),
        value_behind(t, bidder, level, rivals, reserve),
        expected_rent(t, bidder, value, rivals, reserve),
    )


def _records(who: BidderType) -> tuple[np.ndarray, np.ndarray]:
    bidders = np.zeros(1, BIDDER)
    bidders["value_low"], bidders["value_range"] = who.value_low, who.value_high - who.value_low
    return type_columns([who]), bidders


@pytest.mark.slow
def test_kernels_follow_the_formulas_for_random_distributions() -> None:
    rng, shapes = np.random.default_rng(3), 0
    for _ in range(600):
        low, high = np.sort(rng.random(2)).tolist()
        who = BidderType(value_low=low, value_high=high, values=random_values(rng))
        plain, level = Values(who), float(rng.random())
        shapes += not plain.uniform
        value = float(rng.uniform(0, high)) if rng.random() < 0.5 else plain.at(level)
        rivals = float(rng.choice([0.01, 0.5, 3.0, 10.0, 100.0]))
        reserve = float(rng.choice([0.0, 0.3, rng.random()]))
        found = _all(*_records(who), level, value, rivals, reserve)
        assert found[:3] == pytest.approx(
            (plain.at(level), plain.level(value), plain.shaded(value, rivals, reserve)), abs=1e-11
        )
        if not plain.uniform:  # that of uniform values takes four steps of Newton's method
            assert found[3] == pytest.approx(plain.unshaded(level, rivals, reserve), abs=1e-11)
        if value > reserve:
            gain = plain.integral(reserve, value, rivals)
            assert found[4] == pytest.approx(gain, abs=1e-11)
    assert shapes > 200


def test_a_bidder_without_rivals_bids_the_reserve() -> None:
    who = BidderType(values=ValueDistribution("exponential", mean=0.2))
    assert _all(*_records(who), 0.5, 0.7, 0.0, 0.3)[2] == 0.3


def test_a_table_with_equal_quantiles_is_drawn_from() -> None:
    who = BidderType(values=ValueDistribution("quantiles", quantiles=[0.1, 0.5, 0.5, 0.9]))
    drawn = [_all(*_records(who), level, 0.5, 2.0, 0.0)[0] for level in (0.0, 0.4, 0.6, 0.999)]
    assert drawn == pytest.approx([0.1, 0.5, 0.5, 0.8988])


def test_uniform_values_from_above_0_bid_their_equilibrium_as_a_mixture_alone() -> None:
    """Two bidders with values from 1/2 to 1: the equilibrium is 1/4 + v/2, the uniform rule v/2."""
    plain = BidderType(value_low=0.5)
    mixed = BidderType(value_low=0.5, values=ValueDistribution("mixture", parts=[[1, 0, 1]]))
    for level in (0.0, 0.3, 0.999):
        value = 0.5 + 0.5 * level
        rule, equilibrium = (_all(*_records(who), level, value, 1.0, 0.0) for who in (plain, mixed))
        assert rule[0] == equilibrium[0] == pytest.approx(value)
        assert (rule[2], equilibrium[2]) == pytest.approx((value / 2, 0.25 + value / 2))
