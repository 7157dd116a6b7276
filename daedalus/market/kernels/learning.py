"""Kernels of learning: how bidders update their beliefs, tables and expected surplus."""

from __future__ import annotations

import math

from daedalus.market.auction import pays_one_price, pays_own_bid
from daedalus.market.draws import READING_ERROR, uniform
from daedalus.market.jit.compilation import Floats, Record, Records, kernel
from daedalus.market.kernels.bidding import (
    SMALLEST_BID,
    disclosed,
    entry_cost,
    known_reserve,
    rivals,
)
from daedalus.market.kernels.records import Round
from daedalus.market.kernels.values import level_of, value_behind
from daedalus.market.learners import (
    FITTED,
    GIVEN,
    HEDGE,
    NET,
    Q_LEARNER,
    forgone_payoffs,
    learn_value,
    multiply_weights,
)

_LEAST_BELIEF_PART = 0.01  # of both parts, whose quotient is the number of rivals


@kernel
def _competing_bids(
    i: int, n: int, units: int, count: int, ranking: Records
) -> tuple[float, float]:
    """Return what it took to win a unit, and a second: bids of others, or 0 where there is none."""
    lowest, above, place = 0.0, 0.0, 0
    for j in range(count):
        if ranking[j].owner == i or ranking[j].owner == n + i:
            continue
        place += 1
        if place == units - 1:
            above = ranking[j].bid
        if place == units:
            lowest = ranking[j].bid
    return lowest, above


@kernel
def _learn_rivals(
    t: Record, mechanism: Record, bidder: Record, competing: float, gain: float
) -> None:
    """Update how strong the rivals seem: a censored-exponential fit to the competing bid.

    If the best rival value is distributed as F^k, minus the logarithm of its F is exponential with
    rate k, censored at minus the logarithm of the reserve's F.
    """
    reserve = known_reserve(mechanism)
    level = competing
    if competing > 0.0 and pays_own_bid(mechanism.auction_type):
        level = value_behind(t, bidder, competing, rivals(bidder), reserve)
    if t.knots > 0:
        reserve, level = level_of(t, bidder, reserve), level_of(t, bidder, level)
    floor = max(reserve, SMALLEST_BID)
    seen = 1.0 if level > floor else 0.0
    distance = -math.log(min(max(level, floor), 1.0))
    bidder.rivals_seen += gain * (seen - bidder.rivals_seen)
    bidder.rivals_distance += gain * (distance - bidder.rivals_distance)
    bidder.rivals_seen = max(bidder.rivals_seen, _LEAST_BELIEF_PART)
    bidder.rivals_distance = max(bidder.rivals_distance, _LEAST_BELIEF_PART)


@kernel
def _uniform_price_gain(
    one: float, two: float, bid_two: float, lowest: float, above: float
) -> float:
    """Return a bidder's surplus in a uniform-price sale if it offers ``bid_two`` for a second."""
    if bid_two > above:
        return one + two - 2.0 * above
    if one > lowest:
        return one - max(bid_two, lowest)
    return 0.0


@kernel
def _learn_reduction(
    mechanism: Record, bidder: Record, seat: Record, lowest: float, above: float, gain: float
) -> None:
    """Update what a bidder gains if it offers one unit less in a uniform-price sale."""
    reserve = known_reserve(mechanism)
    one, two = seat.value_one, seat.value_two
    low, high = max(lowest, reserve), max(above, reserve)
    full = _uniform_price_gain(one, two, two, low, high)
    reduced = _uniform_price_gain(one, two, 0.0, low, high)
    bidder.reduction_gain += gain * (reduced - full - bidder.reduction_gain)


@kernel
def _learn_factors(
    t: Record,
    mechanism: Record,
    bidder: Record,
    seat: Record,
    table: Floats,
    price: float,
    lowest: float,
    above: float,
    lost: bool,
    weight: float,
    payoffs: Floats,
) -> None:
    """Update a Hedge shader's weights by what its factors would have earned, as far as it knows.

    Where no rival competed, a bid had to reach the reserve. The price tells a secret reserve.
    """
    weights, reserve = table[: t.factors], known_reserve(mechanism)
    alone = reserve if mechanism.reveal_reserve else price
    low = max(lowest, reserve) if lowest > 0.0 else alone
    high = max(above, reserve) if above > 0.0 else alone
    forgone_payoffs(
        t, mechanism.auction_type, seat.value_one, seat.value_two, 1.0 + bidder.pacing, seat.purse,
        low, high, seat.choice if lost else -1, payoffs,
    )  # fmt: skip
    multiply_weights(weights, payoffs, t.hedge_rate * weight, t.hedge_share)


@kernel
def _weight_of_disclosure(
    parameters: Record, mechanism: Record, won: bool, by_hedge: bool
) -> float:
    """Return how much a bidder learns from what the mechanism tells about the competing bids.

    Shown bids tell them exactly, and the distribution of bids tells them roughly. In a first-price
    sale the price tells losers what would have won, and tells Hedge shaders who won an upper bound
    on the bids that they beat. In other sales the price tells winners the bid that they beat.
    """
    own_bid = pays_own_bid(mechanism.auction_type)
    told = mechanism.reveal_clearing_price and (own_bid != won or (own_bid and by_hedge))
    return disclosed(parameters, mechanism, told)


@kernel
def learn_bidding(
    current: Round,
    types: Records,
    bidders: Records,
    seats: Records,
    offers: Records,
    tables: Floats,
    ranking: Records,
    awards: Records,
    count: int,
    price: float,
    payoffs: Floats,
) -> None:
    """Let shaders learn from what the mechanism tells them about the competing bids.

    Members of a ring that follow its deal learn nothing: those bids were agreed.

    Args:
        current: The round.
        types: Bidder types.
        bidders: Their beliefs are updated in place.
        seats: Their values, and whether they follow a deal.
        offers: Their bids.
        tables: The weights of Hedge shaders are updated in place.
        ranking: The highest bids of the sale.
        awards: Of the sale.
        count: How many bids competed.
        price: The clearing price.
        payoffs: Scratch.
    """
    constants, mechanism, n = current.parameters, current.mechanism, len(seats)
    for i in range(n):
        bidder, seat = bidders[i], seats[i]
        t = types[bidder.kind]
        if not t.shades or not seat.entered or seat.covers or seat.leads:
            continue
        won, by_hedge = awards[i].units > 0, t.learner == HEDGE
        weight = _weight_of_disclosure(constants, mechanism, won, by_hedge)
        if weight == 0.0:
            continue
        lowest, above = price, price
        if mechanism.reveal_competing_bids or mechanism.reveal_bid_distribution:
            lowest, above = _competing_bids(i, n, current.units, count, ranking)
        if mechanism.reveal_bid_distribution and not mechanism.reveal_competing_bids:
            error = 2.0 * uniform(current.key, i, READING_ERROR) - 1.0
            noise = 1.0 + constants.distribution_noise * error
            lowest, above = lowest * noise, above * noise
        if by_hedge:
            lost = not won and offers[i].one == seat.solo_one
            _learn_factors(
                t, mechanism, bidder, seat, tables[i], price, lowest, above, lost, weight, payoffs
            )
        gain = min(bidder.learning_rate * weight, 1.0)
        _learn_rivals(t, mechanism, bidder, lowest, gain)
        if t.learner == FITTED and seat.value_two > 0.0 and pays_one_price(mechanism.auction_type):
            _learn_reduction(mechanism, bidder, seat, lowest, above, gain)


@kernel
def learn_expected_surplus(current: Round, bidders: Records, seats: Records, price: float) -> None:
    """Update the surplus that bidders expect from entry.

    Bidders who stayed out learn what they missed if the price is shown.
    """
    constants, mechanism = current.parameters, current.mechanism
    reserve = known_reserve(mechanism)
    for i in range(len(seats)):
        bidder, seat = bidders[i], seats[i]
        gained = seat.net
        if not seat.entered:
            if not mechanism.reveal_clearing_price or (
                price == 0.0 and not mechanism.reveal_reserve
            ):
                continue
            cost = max(price, reserve)
            gained = max(seat.value_one - cost, 0.0)
            if pays_own_bid(mechanism.auction_type):
                gained = seat.value_one - seat.solo_one if seat.solo_one > cost else 0.0
        bidder.expected_surplus += constants.entry_gain * (gained - bidder.expected_surplus)


@kernel
def learn_action_values(
    current: Round,
    types: Records,
    bidders: Records,
    seats: Records,
    offers: Records,
    tables: Floats,
) -> None:
    """Let Q-learners learn from the surplus of the round, net of the cost of entry.

    They learn nothing where their ring made them bid otherwise than they chose. Whoever gives a
    seat its bids is told the surplus.
    """
    cost = entry_cost(current)
    for i in range(len(seats)):
        bidder, seat = bidders[i], seats[i]
        t = types[bidder.kind]
        if t.learner == GIVEN:
            tables[i, NET] = seat.net
        if t.learner != Q_LEARNER:
            continue
        won = int(seat.delivered > 0 and t.recalls_win)
        chosen = not seat.entered or offers[i].one == seat.solo_one
        if chosen and not seat.covers and not seat.leads:
            reward = seat.net - cost if seat.entered else 0.0
            rate = bidder.learning_rate
            learn_value(t, rate, tables[i], bidder.won_last, seat.choice, reward, won)
        bidder.won_last = won
