"""Deliveries, withdrawals, fines and payments."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray

from daedalus.market.mechanism import Mechanisms
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType, Population
from daedalus.market.strategic import StrategicState
from tests.market.strategic_markets import TYPES, fresh, mixed, telling
from tests.populations import draw_mechanisms


@pytest.mark.parametrize("name", TYPES)
def test_nobody_spends_more_than_its_budget(name):
    market, state = fresh(mixed(name, budget=0.7), 60)
    market.play(state, draw_mechanisms(60, np.random.default_rng(0)), 60)
    assert state.bidders["spent"].max() <= 0.7 + 1e-12


def play_false_names(*types: BidderType) -> tuple[StrategicState, NDArray[np.float64]]:
    """Play a first sale of one unit in 200 markets, where each shill bidder also bids 0.5.

    Returns:
        The states, and what each bidder would have paid without false names, shape (200, n).
    """
    named = {str(number): each for number, each in enumerate(types)}
    parameters = StrategicParameters(shock_rate=0, shill_prior=10, shill_spread_blind=0)
    market, state = fresh(Population(bidders=len(types), units=1, types=named), 200, parameters)
    state.expected_price[:] = 0.5
    honest = state.fork(np.arange(200))
    honest.bidders["shill_gain"] = -10.0
    mechanisms = Mechanisms.repeat(telling(reserve_price=0.0, shill_penalty=0.0), 200)
    for each in (state, honest):
        market.play(each, mechanisms, 1)
    return state, honest.bidders["spent"]


STRONG = BidderType(value_low=0.8, value_high=0.9, demand=1)
WEAK = BidderType(value_low=0.0, value_high=0.1, demand=1)
SHILL = ["shill"]


def test_a_shill_bidder_that_wins_gets_nothing_of_what_it_pays_more_itself():
    state, _ = play_false_names(replace(STRONG, menu=SHILL), WEAK)
    assert_allclose(state.bidders["spent"], [[0.5, 0.0]] * 200)
    assert_array_equal(state.bidders["surplus"][:, 0], state.bids[:, 0] - 0.5)


def test_a_shill_bidder_gets_a_share_of_what_others_pay_more():
    state, honest = play_false_names(replace(WEAK, menu=SHILL), STRONG)
    assert_allclose(state.bidders["spent"], [[0.0, 0.5]] * 200)
    assert_allclose(state.bidders["surplus"][:, 0], 0.35 * (0.5 - honest[:, 1]))


def test_several_shill_bidders_divide_what_they_add_but_for_the_winner():
    state, honest = play_false_names(replace(STRONG, menu=SHILL), replace(WEAK, menu=SHILL))
    added = 0.5 - honest[:, 0]
    assert_allclose(state.bidders["surplus"][:, 0], state.bids[:, 0] - 0.5)
    assert_allclose(state.bidders["surplus"][:, 1], 0.35 * added / 2)
