"""Rings: what their members know, and what they leave to outsiders."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.market.mechanism import AUCTION_TYPES, Mechanism
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType, Population
from daedalus.market.strategic import StrategicState
from tests.market.states import play
from tests.market.strategic_markets import fresh, mixed, telling


def ring_against(outsider: BidderType, mechanism: Mechanism) -> StrategicState:
    """Return the states after a round in which five of eight, by lot, face three outsiders."""
    ring = BidderType(5, ["collude"], value_low=0.3, efficient_ring=False)
    types = {"ring": ring, "outsider": dataclasses.replace(outsider, share=3.0)}
    parameters = StrategicParameters(ring_scale=1e-6, ring_prior=0.01)
    market, state = fresh(Population(types=types, units=2), 200, parameters)
    play(market, state, mechanism, 1)
    return state


def test_a_ring_that_competes_learns_only_from_what_it_is_told():
    parameters = StrategicParameters(ring_scale=1e-6)
    market, state = fresh(mixed("discreet", "shader"), 20, parameters)
    state.rings["gain"] = -1.0
    silent = state.fork(np.arange(20))
    play(market, silent, telling(reveal_winner_identity=True), 5)
    assert_array_equal(silent.rings["gain"], -1.0)
    for flag in ("reveal_competing_bids", "reveal_bid_distribution", "reveal_clearing_price"):
        told = state.fork(np.arange(20))
        play(market, told, telling(**{flag: True}), 5)
        assert (told.rings["gain"] > -1.0).all()


@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
def test_who_breaks_a_deal_has_not_seen_what_outsiders_bid(auction_type):
    mechanism = Mechanism(auction_type=auction_type, reserve_price=0.0, reveal_reserve=True)
    low, high = (
        ring_against(BidderType(value_low=level, value_high=level + 0.05), mechanism)
        for level in (0.1, 0.9)
    )
    assert_array_equal(low.bids[:, :5], high.bids[:, :5])
    assert not np.array_equal(low.bids[:, 5:], high.bids[:, 5:])


@pytest.mark.parametrize("policy", ["allow", "penalize_confirmed"])
@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
def test_a_ring_does_not_know_a_secret_reserve(auction_type, policy):
    common = {"auction_type": auction_type, "coalition_policy": policy, "collusion_penalty": 0.25}
    bids = [
        ring_against(BidderType(), Mechanism(reserve_price=reserve, **common)).bids[:, :5]
        for reserve in (0.0, 0.2, 0.5)
    ]
    assert_array_equal(bids[0], bids[1])
    assert_array_equal(bids[0], bids[2])
    known = Mechanism(reserve_price=0.5, reveal_reserve=True, **common)
    assert not np.array_equal(bids[2], ring_against(BidderType(), known).bids[:, :5])


@pytest.mark.parametrize("auction_type", ["second_price", "vcg"])
def test_an_efficient_ring_leaves_outsiders_as_they_were(auction_type):
    types = {"outsider": BidderType(share=5), "ring": BidderType(share=3, menu=["collude"])}
    parameters = StrategicParameters(shock_rate=0.0, ring_scale=1e-6, ring_gain=0.0)
    market, state = fresh(Population(types=types, units=1), 200, parameters)
    mechanism = Mechanism(auction_type=auction_type, reserve_price=0.0, reveal_reserve=True)
    played_out = []
    for gain in (-100.0, 100.0):
        fork = state.fork(np.arange(200))
        fork.rings["gain"] = gain
        outcome = play(market, fork, mechanism, 50)
        played_out.append((fork, outcome))
    (apart, competing), (together, colluding) = played_out
    for name in ("surplus", "spent", "units_won", "expected_surplus"):
        ours, theirs = together.bidders[name], apart.bidders[name]
        assert ours[:, :5].tobytes() == theirs[:, :5].tobytes(), name
    assert_array_equal(colluding.field("welfare"), 1)
    surplus = [each.bidders["surplus"][:, 5:].sum(axis=1) for each in (apart, together)]
    assert (surplus[1] >= surplus[0]).all()
    assert (surplus[1] > surplus[0]).mean() > 0.9
    prices = [each.field("clearing_price") for each in (competing, colluding)]
    assert (prices[1] <= prices[0]).all()
    assert (prices[1] < prices[0]).mean() > 0.05
