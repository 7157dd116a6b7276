"""Kernels of entry and bidding: values, the decision to enter, solo bids, false-name bids."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from daedalus.market.auction import pays_one_price, pays_own_bid, pays_personal_price
from daedalus.market.draws import (
    DEMAND_REDUCTION,
    ENTRY,
    EXPLORATION,
    LEARNED_CHOICE,
    SHILL,
    SHILL_BID,
    VALUE_ONE,
    VALUE_TWO,
    round_key,
    uniform,
)
from daedalus.market.jit.compilation import (
    Floats,
    Integers,
    Record,
    Records,
    cached_kernel,
    kernel,
)
from daedalus.market.kernels.records import RESTRICT, Round
from daedalus.market.kernels.values import shaded_bid, value_at
from daedalus.market.learners import (
    BID_ONE,
    BID_TWO,
    FITTED,
    GIVEN,
    HEDGE,
    Q_LEARNER,
    choose_action,
    draw_choice,
    exploration,
    factor,
)

SMALLEST_BID = 0.02
_CRUMB = 1e-9  # what rounding leaves of a budget

_TABLE_END, _TABLE_DENSITY = 8.0, 16.0
_TABLE_ERROR = 0.008  # half a step of 1/16, and a slope of at most 1/4
_GRID = np.arange(2 * _TABLE_END * _TABLE_DENSITY + 1) / _TABLE_DENSITY - _TABLE_END
_LOGISTIC = 1.0 / (1.0 + np.exp(-_GRID))


@kernel
def logistic(x: float) -> float:
    """Return 1 / (1 + exp(-x))."""
    return 1.0 / (1.0 + math.exp(-x))


@kernel
def falls_below(draw: float, least: float, x: float) -> bool:
    """Return whether a draw falls below ``least + (1 - least) * logistic(x)``.

    A table of the logistic function is near enough for most draws, which need no exponential.
    """
    place = int((min(max(x, -_TABLE_END), _TABLE_END) + _TABLE_END) * _TABLE_DENSITY + 0.5)
    beyond: float = draw - least - (1.0 - least) * _LOGISTIC[place]
    if abs(beyond) > _TABLE_ERROR:
        return beyond < 0.0
    return draw < least + (1.0 - least) * logistic(x)


@kernel
def _drawn_values(
    t: Record, bidder: Record, i: int, units: int, key: np.uint64
) -> tuple[float, float]:
    """Return a bidder's values; a first unit is worth at least as much as a second."""
    one = value_at(t, bidder, uniform(key, i, VALUE_ONE))
    if t.demand == 2 and units > 1:
        two = value_at(t, bidder, uniform(key, i, VALUE_TWO))
        return max(one, two), min(one, two)
    return one, 0.0


@cached_kernel
def fill_values(
    types: Records,
    bidders: Records,
    sizes: Integers,
    units: Integers,
    seeds: NDArray[np.uint64],
    rounds: Integers,
    values: Floats,
) -> None:
    """Fill the values of one round of each of B episodes, shape (B, n, 2)."""
    for e in range(len(seeds)):
        key = round_key(seeds[e], rounds[e])
        for i in range(sizes[e]):
            bidder = bidders[e, i]
            drawn = _drawn_values(types[bidder.kind], bidder, i, units[e], key)
            values[e, i, 0], values[e, i, 1] = drawn


@kernel
def entry_cost(current: Round) -> float:
    """Return what it costs to prepare a bid under the mechanism."""
    constants, mechanism = current.parameters, current.mechanism
    cost: float = constants.entry_cost
    if not mechanism.reveal_reserve:
        cost += constants.secret_reserve_cost
    if not mechanism.reveal_winner_identity:
        cost += constants.secret_winner_cost
    if not mechanism.reveal_clearing_price:
        cost += constants.secret_price_cost
    if mechanism.reveal_competing_bids:
        cost += constants.exposed_bids_cost
    elif not mechanism.reveal_bid_distribution:
        cost += constants.secret_statistics_cost
        if pays_personal_price(mechanism.auction_type) and current.units > 1:
            cost += constants.unverified_cost
    if mechanism.coalition_policy == RESTRICT:
        cost += constants.compliance_cost
    return cost


@kernel
def _choose_from_table(
    current: Round, t: Record, bidder: Record, i: int, seat: Record, table: Floats
) -> None:
    """Let a Hedge shader draw a factor, or a Q-learner an action, which may be to stay out.

    A seat whose bids are given takes these.
    """
    if t.learner == GIVEN:
        seat.solo_one, seat.solo_two = table[BID_ONE], table[BID_TWO]
        return
    draw = uniform(current.key, i, LEARNED_CHOICE)
    if t.learner == HEDGE:
        seat.choice = draw_choice(table[: t.factors], draw)
    else:
        explores = uniform(current.key, i, EXPLORATION) < exploration(t, current.number)
        seat.choice = choose_action(t, table, bidder.won_last, explores, draw)


@kernel
def _enters(current: Round, t: Record, bidder: Record, i: int, seat: Record, cost: float) -> bool:
    """Return whether a bidder enters.

    Types that may opt out enter with a chance that grows with their expected surplus less the
    cost. Q-learners enter unless they chose to stay out. All others enter.
    """
    constants = current.parameters
    if t.learner == Q_LEARNER:
        chosen: bool = seat.choice < t.factors
        return chosen
    if not t.opts_out:
        return True
    willing = (bidder.expected_surplus - cost) / constants.entry_scale
    enters: bool = falls_below(uniform(current.key, i, ENTRY), constants.entry_floor, willing)
    return enters


@kernel
def rivals(bidder: Record) -> float:
    """Return how many rivals' values a bidder believes that it has to beat."""
    number: float = bidder.rivals_seen / bidder.rivals_distance
    return number


@kernel
def disclosed(parameters: Record, mechanism: Record, price: bool) -> float:
    """Return how much is told of the bids, in [0, 1]; ``price`` says whether the price tells."""
    if mechanism.reveal_competing_bids:
        return 1.0
    share: float = (
        parameters.price_weight * price
        + parameters.distribution_weight * mechanism.reveal_bid_distribution
    )
    return share


@kernel
def known_reserve(mechanism: Record) -> float:
    """Return the reserve that bidders reckon with: 0 while it is secret."""
    reserve: float = mechanism.reserve_price if mechanism.reveal_reserve else 0.0
    return reserve


@kernel
def _decide_solo_bids(
    current: Round, t: Record, bidder: Record, i: int, seat: Record, reserve: float
) -> None:
    """Decide what a bidder bids without ring and false name, and fill its purse.

    In first price a shader whose learner is ``FITTED`` bids ``shaded_bid``, whose formula stands in
    values.py. The exponent there is ``rivals``: ``_learn_rivals`` (learning.py) learns its two
    parts. Bids are decided also if the bidder stays out.

    ``reserve`` is the one that it reckons with.
    """
    auction_format, one, two = current.mechanism.auction_type, seat.value_one, seat.value_two
    if t.learner == GIVEN:
        one, two = seat.solo_one, seat.solo_two
    elif t.learner != FITTED:
        share = factor(t, seat.choice)
        one, two = share * one, share * two
    elif t.shades and pays_own_bid(auction_format):
        one = shaded_bid(t, bidder, one, rivals(bidder), reserve)
        two = shaded_bid(t, bidder, two, rivals(bidder), reserve)
    elif t.shades and pays_one_price(auction_format) and two > 0.0:
        reduces = bidder.reduction_gain / current.parameters.reduction_scale
        if falls_below(uniform(current.key, i, DEMAND_REDUCTION), 0.0, reduces):
            two = 0.0
    left = bidder.budget - bidder.spent
    seat.purse = left if left > _CRUMB else 0.0
    if bidder.budget < np.inf:
        one = min(one / (1.0 + bidder.pacing), seat.purse)
        two = min(two / (1.0 + bidder.pacing), seat.purse - one)
    seat.solo_one, seat.solo_two = one, two


@kernel
def _offer_solo_bid(seat: Record, offer: Record) -> None:
    """Offer a bidder's solo bids if it entered, and forget the ring's deal of the last round."""
    seat.covers = False
    seat.leads = False
    offer.one = seat.solo_one if seat.entered else 0.0
    offer.two = seat.solo_two if seat.entered else 0.0


@kernel
def price_is_public(mechanism: Record) -> bool:
    """Return whether bidders are told the price or can work it out from what they are told."""
    public: bool = (
        mechanism.reveal_clearing_price
        or mechanism.reveal_competing_bids
        or mechanism.reveal_bid_distribution
    )
    return public


@kernel
def _false_bid_error(current: Round) -> float:
    """Return the relative error of a false-name bid: the less is shown, the larger."""
    constants, mechanism = current.parameters, current.mechanism
    error: float = constants.shill_spread_blind
    if mechanism.reveal_clearing_price:
        error = constants.shill_spread_price
    if mechanism.reveal_bid_distribution:
        error = constants.shill_spread_distribution
    if mechanism.reveal_competing_bids:
        error = constants.shill_spread_bids
    return error


@kernel
def _bid_falsely(current: Round, bidder: Record, i: int, expected_price: float) -> float:
    """Return a shill bidder's false-name bid, near the price that it expects, or 0 for none."""
    constants, mechanism, key = current.parameters, current.mechanism, current.key
    fine = constants.fine_unit * mechanism.shill_penalty
    expected = bidder.shill_gain - constants.shill_hit * fine
    if not falls_below(uniform(key, i, SHILL), 0.0, expected / constants.shill_scale):
        return 0.0
    draw = 2.0 * uniform(key, i, SHILL_BID) - 1.0
    return max(expected_price * (1.0 + _false_bid_error(current) * draw), SMALLEST_BID)


@kernel
def bid(
    current: Round,
    types: Records,
    bidders: Records,
    seats: Records,
    offers: Records,
    tables: Floats,
    expected_price: float,
) -> int:
    """Let each bidder draw values, decide on entry and bid; return the number of false names.

    Rings replace bids of their members afterwards (``rings.py``). Entry depends on no value drawn.

    Args:
        current: The round.
        types: Bidder types.
        bidders: What they carry from round to round.
        seats: Filled in place.
        offers: Filled in place.
        tables: Weights of Hedge shaders, action values of Q-learners, and bids that are given.
        expected_price: The price that shill bidders expect.
    """
    cost, reserve, names = entry_cost(current), known_reserve(current.mechanism), 0
    prices_of_others = not pays_own_bid(current.mechanism.auction_type)
    for i in range(len(seats)):
        bidder, seat, offer = bidders[i], seats[i], offers[i]
        t = types[bidder.kind]
        values = _drawn_values(t, bidder, i, current.units, current.key)
        seat.value_one, seat.value_two = values
        if t.learner != FITTED:
            _choose_from_table(current, t, bidder, i, seat, tables[i])
        seat.entered = _enters(current, t, bidder, i, seat, cost)
        _decide_solo_bids(current, t, bidder, i, seat, reserve)
        _offer_solo_bid(seat, offer)
        offer.alias = 0.0
        if t.shills and seat.entered and prices_of_others:
            offer.alias = _bid_falsely(current, bidder, i, expected_price)
            names += offer.alias > 0.0
    return names
