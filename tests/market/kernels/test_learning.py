"""Bidders learn from what the mechanism tells them, and from nothing else."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.market.mechanism import AUCTION_TYPES
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType, Population
from daedalus.market.strategic import StrategicState
from tests.market.reference_payments import ONE_PRICE
from tests.market.states import play
from tests.market.strategic_markets import COMMON, fresh, mixed, telling

LEARNED = ("rivals_seen", "rivals_distance", "reduction_gain")
BY_HEDGE = BidderType(menu=["shade"], demand=1, learner="hedge")


PRICE_ALONE = {"reveal_clearing_price": True, "reveal_winner_identity": True}


def learners(**changes) -> Population:
    always = BidderType(menu=["shade"], **changes)
    return Population(bidders=8, types={"learner": always}, units=3)


def moved(state: StrategicState, fresh_state: StrategicState, names=LEARNED) -> np.ndarray:
    """Return which bidders' beliefs are no longer what they were, shape (B, n)."""
    changed = [state.bidders[name] != fresh_state.bidders[name] for name in names]
    return np.any(changed, axis=0)


@pytest.mark.parametrize("flag", [None, "reveal_reserve", "reveal_winner_identity"])
@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
def test_nothing_is_learned_about_bids_where_nothing_is_told_of_them(auction_type, flag):
    who = mixed(*COMMON, "weak", bidders=14)
    market, state = fresh(dataclasses.replace(who, types=who.types | {"hedge": BY_HEDGE}), 30)
    before = copy.deepcopy(state)
    play(market, state, telling(auction_type=auction_type, **({flag: True} if flag else {})), 40)
    assert not moved(state, before).any()
    assert state.tables.any() and state.tables.tobytes() == before.tables.tobytes()


@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
def test_the_price_tells_winners_or_losers_what_they_had_to_beat(auction_type):
    market, state = fresh(learners(demand=1), 200, StrategicParameters(shock_rate=0.0))
    before = copy.deepcopy(state)
    play(market, state, telling(auction_type=auction_type, reveal_clearing_price=True), 1)
    can_tell = state.wins == 0 if auction_type == "first_price" else state.wins > 0
    assert can_tell.any(axis=1).all() and not can_tell.all(axis=1).any()
    assert_array_equal(moved(state, before), can_tell)


@pytest.mark.parametrize("flag", ["reveal_competing_bids", "reveal_bid_distribution"])
@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
def test_bids_and_their_distribution_tell_everyone(auction_type, flag):
    market, state = fresh(learners(), 200)
    before = copy.deepcopy(state)
    play(market, state, telling(auction_type=auction_type, **{flag: True}), 1)
    assert moved(state, before, ("rivals_distance",)).all()


@pytest.mark.parametrize("flag", ["reveal_competing_bids", "reveal_bid_distribution"])
def test_only_uniform_prices_teach_to_reduce_demand(flag):
    for auction_type in AUCTION_TYPES:
        market, state = fresh(learners(), 50)
        before = copy.deepcopy(state)
        play(market, state, telling(auction_type=auction_type, **{flag: True}), 5)
        changed = moved(state, before, ("reduction_gain",))
        assert changed.any() == (auction_type in ONE_PRICE)


def beliefs_against(auction_type, learner, rivals, units, told) -> list[bytes]:
    """Return what the first bidder comes to believe against each of the rivals, by their values."""
    seen = []
    for low, high in rivals:
        types = {
            "learner": dataclasses.replace(learner, menu=["shade"]),
            "middle": BidderType(share=2, value_low=0.4, value_high=0.5, demand=1),
            "rival": BidderType(value_low=low, value_high=high, demand=1),
        }
        who = Population(bidders=4, types=types, units=units)
        market, state = fresh(who, 20, StrategicParameters(reduction_scale=1e-6))
        play(market, state, telling(auction_type=auction_type, reveal_reserve=True, **told), 25)
        seen.append(state.bidders[:, 0].tobytes() + state.tables[:, 0].tobytes())
    return seen


@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
@pytest.mark.parametrize(
    ("learner", "rivals"),
    [
        (BidderType(value_low=0.9, demand=1), [(0.1, 0.2), (0.3, 0.4)]),  # wins, they lose
        (BidderType(value_high=0.1, demand=1), [(0.6, 0.7), (0.8, 1.0)]),  # loses, they win
        (dataclasses.replace(BY_HEDGE, value_low=0.9), [(0.05, 0.1), (0.1, 0.15)]),
    ],
    ids=["winner", "loser", "winner by Hedge"],
)
def test_bids_that_are_not_told_teach_nothing(auction_type, learner, rivals):
    """Of four bidders the rival never sets the price: it loses below it or wins above it."""
    units = 1 if learner.value_low else 2
    untold = beliefs_against(auction_type, learner, rivals, units, PRICE_ALONE)
    assert untold[0] == untold[1]


def test_a_price_tells_nothing_of_the_bids_below_it():
    learner = BidderType(value_low=0.9, demand=2)  # wins both units at the middle bid
    rivals = [(0.1, 0.2), (0.2, 0.3)]
    untold = beliefs_against("second_price", learner, rivals, 2, PRICE_ALONE)
    assert untold[0] == untold[1]


def test_a_bidder_knows_its_own_false_name():
    types = {
        "shill": BidderType(menu=["shade", "shill"], value_low=0.9),
        "weak": BidderType(value_high=0.05),
    }
    parameters = StrategicParameters(shill_prior=1.0, shill_gain=0.0)
    market, state = fresh(Population(bidders=2, types=types, units=1), 20, parameters)
    play(market, state, telling(reserve_price=0.2, reveal_competing_bids=True), 10)
    assert (state.bidders["rivals_seen"][:, 0] < 1).all()


def test_a_secret_reserve_is_not_learned_from_a_price_of_nothing():
    parameters = StrategicParameters(entry_floor=0.0, entry_cost=10.0)
    expected = []
    for reserve in (0.2, 0.4):
        market, state = fresh(mixed("shader"), 10, parameters)
        play(market, state, telling(reserve_price=reserve, reveal_clearing_price=True), 5)
        assert not state.bids.any()
        expected.append(state.bidders["expected_surplus"])
    assert_array_equal(*expected)
