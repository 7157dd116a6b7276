"""Kernels of entry and bidding: values, the decision to enter, sincere bids, false-name bids."""

from __future__ import annotations

import math

import numpy as np

from daedalus.market.auction import FIRST_PRICE, SECOND_PRICE, VCG
from daedalus.market.compilation import Floats, Record, Records, inlined_kernel, kernel
from daedalus.market.draws import (
    DEMAND_REDUCTION,
    ENTRY,
    EXPLORATION,
    LEARNED_CHOICE,
    SHILL,
    SHILL_BID,
    VALUE_ONE,
    VALUE_TWO,
    uniform,
)
from daedalus.market.kernels.records import RESTRICT, Round
from daedalus.market.learners import GRADIENT, HEDGE, Q_LEARNER, choose_action, draw_choice, factor

SMALLEST_BID = 0.02
_CRUMB = 1e-9  # what rounding leaves of a budget


@inlined_kernel
def logistic(x: float) -> float:
    """Return 1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + math.exp(-x))


@kernel
def draw_values(current: Round, types: Records, bidders: Records, seats: Records) -> None:
    """Fill the values of the seats; a first unit is worth at least as much as a second."""
    for i in range(len(seats)):
        t, seat = types[bidders[i].kind], seats[i]
        one = t.value_low + t.value_range * uniform(current.key, i, VALUE_ONE)
        seat.value_one, seat.value_two = one, 0.0
        if t.demand == 2 and current.units > 1:
            two = t.value_low + t.value_range * uniform(current.key, i, VALUE_TWO)
            seat.value_one, seat.value_two = max(one, two), min(one, two)


@kernel
def entry_cost(current: Round) -> float:
    """Return what it costs to prepare a bid under the mechanism."""
    constants, mechanism = current.parameters, current.mechanism
    cost: float = constants.entry_cost
    if not mechanism.shows_reserve:
        cost += constants.secret_reserve_cost
    if not mechanism.shows_winner:
        cost += constants.secret_winner_cost
    if not mechanism.shows_price:
        cost += constants.secret_price_cost
    if mechanism.shows_bids:
        cost += constants.exposed_bids_cost
    elif not mechanism.shows_distribution:
        cost += constants.secret_statistics_cost
        if mechanism.format == VCG and current.units > 1:
            cost += constants.unverified_cost
    if mechanism.policy == RESTRICT:
        cost += constants.compliance_cost
    return cost


@kernel
def choose_from_tables(
    current: Round, types: Records, bidders: Records, seats: Records, tables: Floats
) -> None:
    """Let Hedge shaders draw a factor and Q-learners an action, which may be to stay out."""
    for i in range(len(seats)):
        bidder = bidders[i]
        t = types[bidder.kind]
        draw = uniform(current.key, i, LEARNED_CHOICE)
        if t.learner == HEDGE:
            seats[i].choice = draw_choice(tables[i, : t.factors], draw)
        elif t.learner == Q_LEARNER:
            explores = uniform(current.key, i, EXPLORATION) < t.exploration
            seats[i].choice = choose_action(t, tables[i], bidder.won_last, explores, draw)


@kernel
def enter(current: Round, types: Records, bidders: Records, seats: Records) -> None:
    """Decide which bidders enter.

    Types that may opt out enter with a chance that grows with their expected surplus less the
    cost. Q-learners enter unless they chose to stay out. All others enter.
    """
    constants = current.parameters
    cost = entry_cost(current)
    for i in range(len(seats)):
        bidder, seat = bidders[i], seats[i]
        t = types[bidder.kind]
        seat.entered = True
        if t.learner == Q_LEARNER:
            seat.entered = seat.choice < t.factors
        elif t.opts_out:
            willing = logistic((bidder.expected_surplus - cost) / constants.entry_scale)
            chance = constants.entry_floor + (1.0 - constants.entry_floor) * willing
            seat.entered = uniform(current.key, i, ENTRY) < chance


@inlined_kernel
def rivals(bidder: Record) -> float:
    """Return how many rivals' values a bidder believes that it has to beat."""
    number: float = bidder.rivals_seen / bidder.rivals_distance
    return number


@kernel
def shaded(value: float, rivals: float, reserve: float) -> float:
    """Return the first-price equilibrium bid against the best of ``rivals`` uniform values."""
    if value <= 0.0 or value < reserve:
        return 0.0
    bid = rivals * value
    if reserve > 0.0:
        bid += reserve * (reserve / value) ** rivals
    return bid / (rivals + 1.0)


@kernel
def unshaded(bid: float, rivals: float, reserve: float) -> float:
    """Return the value behind a first-price bid, the inverse of ``shaded``, by Newton's method."""
    value = bid * (rivals + 1.0) / rivals
    if reserve > 0.0:
        for _ in range(4):
            if value <= reserve:
                return reserve
            tail = (reserve / value) ** rivals
            excess = rivals * value + reserve * tail - (rivals + 1.0) * bid
            value -= excess / (rivals * (1.0 - tail * reserve / value))
    return value


@inlined_kernel
def known_reserve(mechanism: Record) -> float:
    """Return the reserve that bidders reckon with: 0 while it is secret."""
    reserve: float = mechanism.reserve if mechanism.shows_reserve else 0.0
    return reserve


@kernel
def bid_sincerely(current: Round, types: Records, bidders: Records, seats: Records) -> None:
    """Fill the sincere bids and the purses of the seats, also of bidders who stay out."""
    mechanism = current.mechanism
    reserve = known_reserve(mechanism)
    for i in range(len(seats)):
        bidder, seat = bidders[i], seats[i]
        t = types[bidder.kind]
        one, two = seat.value_one, seat.value_two
        if t.learner != GRADIENT:
            share = factor(t, seat.choice)
            one, two = share * one, share * two
        elif t.shades and mechanism.format == FIRST_PRICE:
            one = shaded(one, rivals(bidder), reserve)
            two = shaded(two, rivals(bidder), reserve)
        elif t.shades and mechanism.format == SECOND_PRICE and two > 0.0:
            reduces = logistic(bidder.reduction_gain / current.parameters.reduction_scale)
            if uniform(current.key, i, DEMAND_REDUCTION) < reduces:
                two = 0.0
        left = t.budget - bidder.spent
        seat.purse = left if left > _CRUMB else 0.0
        if t.budget < np.inf:
            one = min(one / (1.0 + bidder.pacing), seat.purse)
            two = min(two / (1.0 + bidder.pacing), seat.purse - one)
        seat.sincere_one, seat.sincere_two = one, two


@kernel
def offer_sincerely(seats: Records, offers: Records) -> None:
    """Let the bidders who entered bid sincerely, and forget the ring deals of the last round."""
    for i in range(len(seats)):
        seat, offer = seats[i], offers[i]
        seat.covers = False
        seat.leads = False
        offer.one = seat.sincere_one if seat.entered else 0.0
        offer.two = seat.sincere_two if seat.entered else 0.0


@inlined_kernel
def price_is_public(mechanism: Record) -> bool:
    """Return whether bidders are told the price or can work it out from what they are told."""
    public: bool = mechanism.shows_price or mechanism.shows_bids or mechanism.shows_distribution
    return public


@kernel
def bid_falsely(
    current: Round,
    types: Records,
    bidders: Records,
    seats: Records,
    offers: Records,
    expected_price: float,
) -> int:
    """Fill false-name bids, near the price that shill bidders expect; return their number."""
    constants, mechanism, key = current.parameters, current.mechanism, current.key
    spread = constants.shill_spread_blind
    if mechanism.shows_price:
        spread = constants.shill_spread_price
    if mechanism.shows_distribution:
        spread = constants.shill_spread_distribution
    if mechanism.shows_bids:
        spread = constants.shill_spread_bids
    number = 0
    for i in range(len(seats)):
        bidder = bidders[i]
        offers[i].alias = 0.0
        shills = types[bidder.kind].shills and seats[i].entered
        if not shills or mechanism.format == FIRST_PRICE:
            continue
        expected = bidder.shill_gain - constants.shill_hit * mechanism.shill_fine
        if uniform(key, i, SHILL) < logistic(expected / constants.shill_scale):
            draw = 2.0 * uniform(key, i, SHILL_BID) - 1.0
            offers[i].alias = max(expected_price * (1.0 + spread * draw), SMALLEST_BID)
            number += 1
    return number
