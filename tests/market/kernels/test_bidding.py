"""Entry, budgets and false-name bids."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.market.kernels.bidding import falls_below, logistic
from daedalus.market.mechanism import Mechanism
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType, Population
from tests.market.states import play
from tests.market.strategic_markets import TYPES, fresh, mixed, telling
from tests.populations import draw_mechanisms


@pytest.mark.slow
@pytest.mark.parametrize("least", [0.0, 0.05, 1.0])
def test_a_chance_is_logistic_however_it_is_looked_up(least):
    rng = np.random.default_rng(0)
    middle = rng.uniform(-9.0, 9.0, 2_000)
    for x in (*middle, *np.arange(-288, 289) / 32, -1e300, 1e300):
        chance = least + (1.0 - least) * logistic(max(x, -700.0))
        for apart in (-0.5, -0.009, -0.007, -1e-9, 0.0, 1e-9, 0.007, 0.009, 0.5):
            assert falls_below(chance + apart, least, max(x, -700.0)) == (apart < 0.0)


def test_a_spent_budget_bids_nothing():
    market, state = fresh(mixed("exploiter", budget=0.3), 2000)
    drawn = draw_mechanisms(2000, np.random.default_rng(0))
    mechanisms = drawn.with_columns(reserve_price=np.zeros(2000))
    for _ in range(20):
        market.play(state, mechanisms, 3)
        assert not ((state.bids > 0) & (state.bids < 1e-12)).any()


def test_a_false_name_bids_something():
    """Where units cost next to nothing, false names go on at the smallest bid."""
    types = {
        "cheap": BidderType(share=7, value_high=0.01),
        "shill": BidderType(share=1, value_high=0.01, menu=["shill"]),
    }
    parameters = StrategicParameters(shill_prior=1.0, shill_gain=0.0)
    market, state = fresh(Population(types=types, units=1), 20, parameters)
    play(market, state, Mechanism(reserve_price=0.0), 40)
    assert state.expected_price.max() < 0.015
    assert_array_equal(state.alias_bids, np.tile([0.0] * 7 + [0.02], (20, 1)))


@pytest.mark.parametrize("auction_type", ["second_price", "vcg"])
def test_a_price_that_cannot_be_known_moves_no_false_name(auction_type):
    types = {"shill": TYPES["exploiter"], "truthful": BidderType(value_low=0.8)}
    for flag in (None, "reveal_reserve", "reveal_winner_identity", "reveal_clearing_price"):
        market, state = fresh(Population(bidders=6, types=types, units=1), 20)
        before = state.expected_price.copy()
        mechanism = telling(auction_type=auction_type, **({flag: True} if flag else {}))
        play(market, state, mechanism, 10)
        known = flag == "reveal_clearing_price"
        assert (state.expected_price != before).all() == known
        assert (state.expected_price == before).all() == (not known)
