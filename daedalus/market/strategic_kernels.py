"""Numba kernels of the strategic rules: one round, from values to learning.

The sequence and every rule are told in docs/market.md. Nothing here checks its input:
``strategic.py`` does.
"""

from __future__ import annotations

import math

import numpy as np
from numba import prange

from daedalus.market.auction import FIRST_PRICE, SECOND_PRICE, VCG, charge, rank_bids
from daedalus.market.compilation import inlined_kernel, kernel, parallel_kernel
from daedalus.market.draws import round_key, uniform
from daedalus.market.learners import (
    GRADIENT,
    HEDGE,
    Q_LEARNER,
    choose_action,
    draw_choice,
    factor,
    forgone_payoffs,
    learn_value,
    multiply_weights,
)
from daedalus.market.measures import collusion_signal, normalised_gini, stability
from daedalus.market.outcome import HISTORY_LENGTH

_FLOAT, _FLAG = np.float64, np.bool_

_DESCRIBED = (
    "value_low value_range outside budget discretion "
    "factor_step hedge_rate hedge_share exploration discount"
)
TYPE = np.dtype(
    [(name, _FLOAT) for name in _DESCRIBED.split()]
    + [(name, _FLAG) for name in ("opts_out", "shades", "withdraws", "shills", "efficient")]
    + [(name, np.int64) for name in ("demand", "ring", "learner", "factors")]
)
"""A bidder type; ``ring`` is its ring, or -1."""

RULE = np.dtype(
    [(name, _FLOAT) for name in ("reserve", "shill_fine", "withdrawal_fine", "collusion_fine")]
    + [(name, _FLAG) for name in ("shows_reserve", "shows_bids", "shows_winner", "shows_price")]
    + [("shows_distribution", _FLAG), ("format", np.int64), ("policy", np.int64)]
)
"""A mechanism; fines are in units of value."""

_CARRIED = (
    "hope learning_rate rivals_seen rivals_distance reduction_gain shill_gain spent pacing surplus "
    "units_won"
)
BIDDER = np.dtype(
    [("kind", np.int32), ("won_last", np.int32)] + [(name, _FLOAT) for name in _CARRIED.split()]
)
"""What a bidder carries from round to round, see ``StrategicState``."""

RING = np.dtype([("gain", _FLOAT), ("punished", np.int64)])
"""What a ring carries from round to round, see ``StrategicState``."""

_SEAT = np.dtype(
    [(name, _FLOAT) for name in ("net", "purse")]
    + [(name, _FLAG) for name in ("entered", "in_ring", "leads", "breaks", "covers")]
    + [("delivered", np.int64), ("choice", np.int64)]
)
"""What a bidder is and does in the round being played."""

RESTRICT, SUSPECTED, CONFIRMED = 1, 2, 3
(
    _VALUE_ONE, _VALUE_TWO, _ENTRY, _REDUCE, _SHOCK, _COLLUDE, _EXPOSED,
) = range(7)  # fmt: skip
_LOT, _COVER, _SHILL, _LEVEL, _SCREEN, _NAME_SCREEN, _READ = range(7)
_CHOICE, _EXPLORE = range(2)
_SECOND_BANK = 64  # a bidder's second bank of draws is that of bidder 64 + i
_RING_BANK = 160  # rings draw like bidders who do not exist
_LEARNER_BANK = 192  # a bidder's choices from its table
_SMALLEST_BID = 0.02
_LEAST = 0.01
_CRUMB = 1e-9  # what rounding leaves of a budget
(
    _WELFARE, _GINI, _PARTICIPATION, _PRICE, _DROPOUTS, _COLLUSION, _STABILITY, _COMPOSITE,
    _REVENUE, _REVENUE_SHARE,
) = range(10)  # fmt: skip


@inlined_kernel
def _logistic(x):
    return 1.0 / (1.0 + math.exp(-x))


@kernel
def _draw_values(types, bidders, units, key, values):
    """Fill values (n, 2), the first unit's at least the second's."""
    for i in range(len(bidders)):
        t = types[bidders[i].kind]
        one = t.value_low + t.value_range * uniform(key, i, _VALUE_ONE)
        values[i, 0], values[i, 1] = one, 0.0
        if t.demand == 2 and units > 1:
            two = t.value_low + t.value_range * uniform(key, i, _VALUE_TWO)
            values[i, 0], values[i, 1] = max(one, two), min(one, two)


@kernel
def _cost_of_entry(p, rule, units):
    """Return what preparing a bid costs under these rules."""
    cost = p.entry_cost
    if not rule.shows_reserve:
        cost += p.secret_reserve_cost
    if not rule.shows_winner:
        cost += p.secret_winner_cost
    if not rule.shows_price:
        cost += p.secret_price_cost
    if rule.shows_bids:
        cost += p.exposed_bids_cost
    elif not rule.shows_distribution:
        cost += p.secret_statistics_cost
        if rule.format == VCG and units > 1:
            cost += p.unverified_cost
    if rule.policy == RESTRICT:
        cost += p.compliance_cost
    return cost


@kernel
def _choose(types, bidders, key, tables, seats):
    """Let Hedge shaders draw a factor, and Q-learners an action, which may be to stay out."""
    for i in range(len(bidders)):
        t = types[bidders[i].kind]
        draw = uniform(key, _LEARNER_BANK + i, _CHOICE)
        if t.learner == HEDGE:
            seats[i].choice = draw_choice(tables[i, : t.factors], draw)
        elif t.learner == Q_LEARNER:
            exploring = uniform(key, _LEARNER_BANK + i, _EXPLORE) < t.exploration
            seats[i].choice = choose_action(t, tables[i], bidders[i].won_last, exploring, draw)


@kernel
def _enter(p, types, rule, units, bidders, key, seats):
    """Decide who enters: all but the truthful weigh what they hope for against the cost."""
    cost = _cost_of_entry(p, rule, units)
    for i in range(len(bidders)):
        t = types[bidders[i].kind]
        seats[i].entered = True
        if t.learner == Q_LEARNER:
            seats[i].entered = seats[i].choice < t.factors
        elif t.opts_out:
            willing = _logistic((bidders[i].hope - cost) / p.entry_scale)
            chance = p.entry_floor + (1.0 - p.entry_floor) * willing
            seats[i].entered = uniform(key, i, _ENTRY) < chance


@inlined_kernel
def _rivals(bidder):
    """Return how many rivals' values a bidder believes it has to beat."""
    return bidder.rivals_seen / bidder.rivals_distance


@kernel
def _shaded(value, rivals, reserve):
    """Return the first-price equilibrium bid against the best of ``rivals`` uniform values."""
    if value <= 0.0 or value < reserve:
        return 0.0
    bid = rivals * value
    if reserve > 0.0:
        bid += reserve * (reserve / value) ** rivals
    return bid / (rivals + 1.0)


@kernel
def _unshaded(bid, rivals, reserve):
    """Return the value behind a first-price bid, the inverse of ``_shaded``, by Newton's method."""
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
def _known_reserve(rule):
    """Return the reserve that bidders reckon with: 0 while it is secret."""
    return rule.reserve if rule.shows_reserve else 0.0


@kernel
def _bid_sincerely(p, types, rule, bidders, key, values, sincere, seats):
    """Fill what everyone would bid on its own account (n, 2), whether it entered or not."""
    known_reserve = _known_reserve(rule)
    for i in range(len(bidders)):
        bidder, t = bidders[i], types[bidders[i].kind]
        one, two = values[i, 0], values[i, 1]
        if t.learner != GRADIENT:
            share = factor(t, seats[i].choice)
            one, two = share * one, share * two
        elif t.shades and rule.format == FIRST_PRICE:
            one = _shaded(one, _rivals(bidder), known_reserve)
            two = _shaded(two, _rivals(bidder), known_reserve)
        elif t.shades and rule.format == SECOND_PRICE and two > 0.0:
            if uniform(key, i, _REDUCE) < _logistic(bidder.reduction_gain / p.reduction_scale):
                two = 0.0
        left = t.budget - bidder.spent
        seats[i].purse = left if left > _CRUMB else 0.0
        if t.budget < np.inf:
            one = min(one / (1.0 + bidder.pacing), seats[i].purse)
            two = min(two / (1.0 + bidder.pacing), seats[i].purse - one)
        sincere[i, 0], sincere[i, 1] = one, two


@inlined_kernel
def _price_is_public(rule):
    """Return whether the price is told or can be worked out from what is."""
    return rule.shows_price or rule.shows_bids or rule.shows_distribution


@kernel
def _bid_falsely(p, types, rule, bidders, key, expected_price, seats, aliases):
    """Fill false-name bids, near the price that their owners expect; return their number."""
    spread = p.shill_spread_blind
    if rule.shows_price:
        spread = p.shill_spread_price
    if rule.shows_distribution:
        spread = p.shill_spread_distribution
    if rule.shows_bids:
        spread = p.shill_spread_bids
    number = 0
    for i in range(len(bidders)):
        aliases[i] = 0.0
        shills = types[bidders[i].kind].shills and seats[i].entered
        if not shills or rule.format == FIRST_PRICE:
            continue
        expected = bidders[i].shill_gain - p.shill_hit * rule.shill_fine
        if uniform(key, _SECOND_BANK + i, _SHILL) < _logistic(expected / p.shill_scale):
            draw = 2.0 * uniform(key, _SECOND_BANK + i, _LEVEL) - 1.0
            aliases[i] = max(expected_price * (1.0 + spread * draw), _SMALLEST_BID)
            number += 1
    return number


@kernel
def _gather_ring(types, bidders, ring, seats):
    """Mark the members of a ring who entered; return their number and the ring's discretion."""
    size, discretion = 0, 0.0
    for i in range(len(bidders)):
        seats[i].in_ring = seats[i].entered and types[bidders[i].kind].ring == ring
        if seats[i].in_ring:
            size += 1
            discretion = types[bidders[i].kind].discretion
    return size, discretion


@kernel
def _choose_leaders(types, bidders, leaders, key, values, seats):
    """Mark who bids for the ring: the strongest members, or some by lot."""
    for i in range(len(bidders)):
        seats[i].leads = seats[i].leads and not seats[i].in_ring
    for _ in range(leaders):
        best, chosen = -1.0, -1
        for i in range(len(bidders)):
            if not seats[i].in_ring or seats[i].leads:
                continue
            strength = values[i, 0]
            if not types[bidders[i].kind].efficient:
                strength = uniform(key, _SECOND_BANK + i, _LOT)
            if strength > best:
                best, chosen = strength, i
        seats[chosen].leads = True


@kernel
def _bid_together(rule, bidders, size, key, values, sincere, seats, bids):
    """Fill a ring's bids: leaders bid against outsiders alone, the others cover for them.

    Covers cost nothing just under a first-price bid; elsewhere they may set the price, so they go
    to the reserve if it is known and to somewhere low if it is not.
    """
    n = len(bidders)
    known_reserve = _known_reserve(rule)
    outside = (n - size) / (n - 1.0)
    lowest = np.inf
    for i in range(n):
        if not (seats[i].in_ring and seats[i].leads):
            continue
        bids[i, 0], bids[i, 1] = sincere[i, 0], sincere[i, 1]
        if rule.format == FIRST_PRICE:
            rivals = outside * _rivals(bidders[i])
            low = max(_shaded(values[i, 0], rivals, known_reserve), _LEAST)
            bids[i, 0] = min(low, sincere[i, 0])
            bids[i, 1] = min(_shaded(values[i, 1], rivals, known_reserve), sincere[i, 1])
        lowest = min(lowest, bids[i, 0])
    for i in range(n):
        if seats[i].in_ring and not seats[i].leads:
            draw = uniform(key, _SECOND_BANK + i, _COVER)
            cover = 0.5 * lowest * draw
            if rule.format == FIRST_PRICE:
                cover = lowest * (0.9 + 0.08 * draw)
            elif rule.shows_reserve:
                cover = rule.reserve
            bids[i, 0] = min(cover, 0.98 * lowest, values[i, 0], seats[i].purse)
            bids[i, 1] = 0.0


@kernel
def _clear(rule, units, key, bids, aliases, top_bids, top_owners, won, paid):
    """Rank the bids and fill units and payments; return how many compete, and the price."""
    count = rank_bids(bids, aliases, rule.reserve, key, top_bids, top_owners)
    price = charge(rule.format, units, rule.reserve, top_bids, top_owners, count, won, paid)
    return count, price


@kernel
def _ring_surplus(values, seats, won, paid):
    """Return what the ring's members gain in all."""
    total = 0.0
    for i in range(len(seats)):
        if seats[i].in_ring and won[i] > 0:
            total += values[i, 0] - paid[i]
            if won[i] == 2:
                total += values[i, 1]
    return total


@kernel
def _evidence(p, discretion, reserve, seats, bids):
    """Return the share of the screen's power that a deal leaves to it.

    Covers that compete at ``reserve`` look serious and hide the deal; the ring reckons with the
    reserve that it knows.
    """
    covers, serious = 0, 0
    for i in range(len(seats)):
        if seats[i].in_ring and not seats[i].leads:
            covers += 1
            serious += bids[i, 0] > 0.0 and bids[i, 0] >= reserve
    seriousness = serious / covers if covers > 0 else 1.0
    return (1.0 - discretion) * (1.0 - p.camouflage * seriousness)


@inlined_kernel
def _accusation(p, rule, evidence):
    """Return the chance that a winner is fined for collusion.

    Args:
        p: Constants.
        rule: The rules in force.
        evidence: Share of the screen's power that a deal leaves to it; 0 for who has no deal.
    """
    if rule.policy < SUSPECTED:
        return 0.0
    hit, false = p.confirmed_hit, p.confirmed_false
    if rule.policy == SUSPECTED:
        hit, false = p.suspected_hit, p.suspected_false
    return p.audit_rate * (false + (hit - false) * evidence)


@inlined_kernel
def _monitoring(p, rule):
    """Return the chance that a ring sees that a member broke its deal."""
    seen = p.monitoring_base
    if rule.shows_winner:
        seen += p.monitoring_winner
    if rule.shows_bids:
        seen += p.monitoring_bids
    return seen


@kernel
def _highest(amounts, counted, units, top):
    """Fill ``top`` with the K highest amounts (n, 2) of who is ``counted``, best first, then 0."""
    top[:] = 0.0
    for i in range(len(amounts)):
        if not counted[i]:
            continue
        for unit in range(2):
            place = units
            while place > 0 and amounts[i, unit] > top[place - 1]:
                top[place] = top[place - 1]
                place -= 1
            top[place] = amounts[i, unit]


@kernel
def _agreed_floor(rule, units, seats, bids, top):
    """Return what a member must beat of the deal it knows: the K-th of its bids, or the reserve."""
    _highest(bids, seats.in_ring, units, top)
    return max(top[units - 1], _known_reserve(rule))


@kernel
def _deviate(p, rule, units, gain, size, bidders, values, sincere, seats, bids, top):
    """Let members break the deal where it tempts by more than it puts at risk; count them.

    Who breaks knows the ring's own bids and has its belief about outsiders, whose best value it
    takes to be distributed as x^k. With the deal as a floor, the better of a floor c and the best
    outsider leaves a value v the gain (v^(k+1) - c^(k+1))/(k+1), in first price as well, where it
    bids as if the floor were a reserve.
    """
    n = len(bidders)
    stake = _monitoring(p, rule) * p.ring_patience / (1.0 - p.ring_patience) * max(gain, 0.0)
    floor = _agreed_floor(rule, units, seats, bids, top)
    deviators = 0
    for i in range(n):
        power = 1.0 + _rivals(bidders[i]) * (n - size) / (n - 1.0)
        temptation = (values[i, 0] ** power - floor**power) / power
        seats[i].breaks = seats[i].in_ring and not seats[i].leads and temptation > stake
        if not seats[i].breaks:
            continue
        bids[i, 0], bids[i, 1] = sincere[i, 0], sincere[i, 1]
        if rule.format == FIRST_PRICE:
            bid = _shaded(values[i, 0], power - 1.0, floor) + _LEAST
            bids[i, 0] = min(values[i, 0], bid, seats[i].purse)
            bids[i, 1] = min(sincere[i, 1], bids[i, 0], seats[i].purse - bids[i, 0])
        deviators += 1
    return deviators


@kernel
def _play_ring(
    p, types, rule, units, bidders, ring, own, key, values, sincere, bids, other, aliases, seats,
    top_bids, top_owners, won, paid, screened,
):  # fmt: skip
    """Let a ring decide, bid and break; changes ``bids``, ``seats``, its estimate and the state.

    The estimate is of what colluding earns a member beyond competing in the same round, before
    fines, which are announced and need no learning.
    """
    size, discretion = _gather_ring(types, bidders, ring, seats)
    screened[ring] = 0.0
    if own.punished > 0:
        own.punished -= 1
        return
    if size < 2:
        return
    leaders = min(size, max(1, -(-size * units // len(bidders))))
    _choose_leaders(types, bidders, leaders, key, values, seats)
    other[:] = bids
    _bid_together(rule, bidders, size, key, values, sincere, seats, other)
    evidence = _evidence(p, discretion, _known_reserve(rule), seats, other)
    risk = _accusation(p, rule, evidence) - _accusation(p, rule, 0.0)
    chance = _logistic((own.gain - risk * rule.collusion_fine * leaders / size) / p.ring_scale)
    if rule.policy == RESTRICT:
        chance *= p.restrict_factor
    colludes = uniform(key, _RING_BANK + ring, _COLLUDE) < chance
    _clear(rule, units, key, bids, aliases, top_bids, top_owners, won, paid)
    competing = _ring_surplus(values, seats, won, paid)
    screened[ring] = _evidence(p, discretion, rule.reserve, seats, other) if colludes else 0.0
    deviators = _deviate(
        p, rule, units, own.gain, size, bidders, values, sincere, seats, other, top_bids
    )
    _clear(rule, units, key, other, aliases, top_bids, top_owners, won, paid)
    gained = (_ring_surplus(values, seats, won, paid) - competing) / size
    told = p.price_weight * rule.shows_price + p.distribution_weight * rule.shows_distribution
    if rule.shows_bids:
        told = 1.0
    own.gain += p.ring_gain * told * (gained - own.gain)
    if not colludes:
        for i in range(len(seats)):
            seats[i].leads = seats[i].leads and not seats[i].in_ring
        return
    for i in range(len(seats)):
        if seats[i].in_ring:
            seats[i].covers = not seats[i].leads and not seats[i].breaks
    bids[:] = other
    if deviators > 0 and uniform(key, _RING_BANK + ring, _EXPOSED) < p.breakdown:
        own.punished = int(p.punishment_rounds)


@kernel
def _learn_shilling(p, rule, bidders, number, added, won, aliases, seats):
    """Update what a false name earns: a share of what it added to the real winners' payments."""
    n = len(bidders)
    for i in range(n):
        if aliases[i] > 0.0:
            earned = p.shill_share * added / number - won[n + i] * rule.withdrawal_fine
            seats[i].net += earned
            bidders[i].shill_gain += p.shill_gain * (earned - bidders[i].shill_gain)


@kernel
def _settle(p, types, rule, bidders, key, values, won, paid, seats):
    """Let winners keep or walk away; return value and revenue delivered."""
    value, revenue = 0.0, 0.0
    for i in range(len(bidders)):
        seat, bidder = seats[i], bidders[i]
        seat.net, seat.delivered = 0.0, 0
        if won[i] == 0:
            continue
        t = types[bidder.kind]
        worth = values[i, 0] + (values[i, 1] if won[i] == 2 else 0.0)
        if uniform(key, i, _SHOCK) < p.shock_rate:
            worth = 0.0
        fine = rule.withdrawal_fine * won[i]
        instead = t.outside * won[i] - fine if t.withdraws else -fine
        if instead > worth - paid[i] and (worth == 0.0 or t.withdraws):
            seat.net = -fine
            continue
        seat.delivered = won[i]
        seat.net = worth - paid[i]
        bidder.spent += paid[i]
        value += worth
        revenue += paid[i]
    return value, revenue


@kernel
def _punish(p, types, rule, bidders, key, aliases, screened, seats):
    """Screen the winners for rings and false names, and fine whom the screens accuse."""
    for i in range(len(bidders)):
        ring = types[bidders[i].kind].ring
        if seats[i].delivered > 0:
            chance = _accusation(p, rule, screened[ring] if ring >= 0 else 0.0)
            if uniform(key, _SECOND_BANK + i, _SCREEN) < chance:
                seats[i].net -= rule.collusion_fine
        chance = p.shill_hit if aliases[i] > 0.0 else p.shill_false * (seats[i].delivered > 0)
        if uniform(key, _SECOND_BANK + i, _NAME_SCREEN) < chance:
            seats[i].net -= rule.shill_fine


@kernel
def _bids_to_beat(i, n, units, count, top_bids, top_owners):
    """Return the lowest winning bid of the others, and the one above it; 0 where there is none."""
    lowest, above, place = 0.0, 0.0, 0
    for j in range(count):
        if top_owners[j] == i or top_owners[j] == n + i:
            continue
        place += 1
        if place == units - 1:
            above = top_bids[j]
        if place == units:
            lowest = top_bids[j]
    return lowest, above


@kernel
def _learn_shading(rule, bidder, to_beat, gain):
    """Update how strong the rivals seem: a censored-exponential fit to the bid to beat.

    If the best rival value is distributed as v^k, minus its logarithm is exponential with rate k,
    censored at minus the logarithm of the reserve.
    """
    floor = max(_known_reserve(rule), _SMALLEST_BID)
    value = to_beat
    if to_beat > 0.0 and rule.format == FIRST_PRICE:
        value = _unshaded(to_beat, _rivals(bidder), _known_reserve(rule))
    seen = 1.0 if value > floor else 0.0
    distance = -math.log(min(max(value, floor), 1.0))
    bidder.rivals_seen += gain * (seen - bidder.rivals_seen)
    bidder.rivals_distance += gain * (distance - bidder.rivals_distance)
    bidder.rivals_seen = max(bidder.rivals_seen, _LEAST)
    bidder.rivals_distance = max(bidder.rivals_distance, _LEAST)


@inlined_kernel
def _uniform_price_gain(one, two, bid_two, lowest, above):
    """Return a bidder's surplus in a uniform-price sale if it offers ``bid_two`` for a second."""
    if bid_two > above:
        return one + two - 2.0 * above
    if one > lowest:
        return one - max(bid_two, lowest)
    return 0.0


@kernel
def _learn_factors(
    t, rule, bidder, table, values, seat, price, lowest, above, lost, weight, payoffs
):
    """Update a Hedge shader's weights by what its factors would have earned, as far as it knows.

    Where no rival had to be beaten the reserve did, of which a secret one is known by the price.
    """
    weights, known_reserve = table[: t.factors], _known_reserve(rule)
    alone = known_reserve if rule.shows_reserve else price
    low = max(lowest, known_reserve) if lowest > 0.0 else alone
    high = max(above, known_reserve) if above > 0.0 else alone
    forgone_payoffs(
        t, rule.format, values, 1.0 + bidder.pacing, seat.purse, low, high,
        seat.choice if lost else -1, payoffs,
    )  # fmt: skip
    multiply_weights(weights, payoffs, t.hedge_rate * weight, t.hedge_share)


@kernel
def _learn_bidding(
    p, types, rule, units, bidders, key, count, price, values, sincere, bids, seats, tables,
    payoffs, top_bids, top_owners, won,
):  # fmt: skip
    """Let those learn who can tell what they had to beat; what they can tell is disclosed.

    Shown bids tell it exactly, the bids' distribution roughly. The price is what had to be beaten
    for who lost a first-price or won another sale, and for a Hedge shader that won a first-price
    sale the most that it can have been. The last two carry less weight than bids. Who is in on a
    ring's deal learns nothing from bids that were agreed.
    """
    n = len(bidders)
    first_price = rule.format == FIRST_PRICE
    for i in range(len(bidders)):
        t = types[bidders[i].kind]
        if not t.shades or not seats[i].entered or seats[i].covers or seats[i].leads:
            continue
        told = rule.shows_price and first_price == (won[i] == 0)
        told |= rule.shows_price and first_price and t.learner == HEDGE
        weight = p.price_weight * told + p.distribution_weight * rule.shows_distribution
        if rule.shows_bids:
            weight = 1.0
        if weight == 0.0:
            continue
        lowest, above = price, price
        if rule.shows_bids or rule.shows_distribution:
            lowest, above = _bids_to_beat(i, n, units, count, top_bids, top_owners)
        gain = min(bidders[i].learning_rate * weight, 1.0)
        if rule.shows_distribution and not rule.shows_bids:
            noise = 1.0 + p.distribution_noise * (2.0 * uniform(key, _SECOND_BANK + i, _READ) - 1.0)
            lowest, above = lowest * noise, above * noise
        if t.learner == HEDGE:
            lost = won[i] == 0 and bids[i, 0] == sincere[i, 0]
            _learn_factors(
                t, rule, bidders[i], tables[i], values[i], seats[i], price, lowest, above, lost,
                weight, payoffs,
            )  # fmt: skip
        _learn_shading(rule, bidders[i], lowest, gain)
        if t.learner == GRADIENT and values[i, 1] > 0.0 and rule.format == SECOND_PRICE:
            one, two = values[i, 0], values[i, 1]
            low, high = max(lowest, _known_reserve(rule)), max(above, _known_reserve(rule))
            full = _uniform_price_gain(one, two, two, low, high)
            reduced = _uniform_price_gain(one, two, 0.0, low, high)
            bidders[i].reduction_gain += gain * (reduced - full - bidders[i].reduction_gain)


@kernel
def _learn_hope(p, rule, bidders, values, sincere, price, seats):
    """Update what everyone hopes to gain by entering; who stayed out learns from a shown price."""
    for i in range(len(bidders)):
        gained = seats[i].net
        if not seats[i].entered:
            if not rule.shows_price or (price == 0.0 and not rule.shows_reserve):
                continue
            cost = max(price, _known_reserve(rule))
            gained = max(values[i, 0] - cost, 0.0)
            if rule.format == FIRST_PRICE:
                gained = values[i, 0] - sincere[i, 0] if sincere[i, 0] > cost else 0.0
        bidders[i].hope += p.entry_gain * (gained - bidders[i].hope)


@kernel
def _learn_values(p, types, rule, units, bidders, sincere, bids, seats, tables):
    """Let Q-learners learn from what the round brought them, net of the cost of coming.

    Who did not bid as it chose to, since its ring decided otherwise, learns nothing.
    """
    cost = _cost_of_entry(p, rule, units)
    for i in range(len(bidders)):
        t, seat, bidder = types[bidders[i].kind], seats[i], bidders[i]
        if t.learner != Q_LEARNER:
            continue
        won = int(seat.delivered > 0)
        chosen = not seat.entered or bids[i, 0] == sincere[i, 0]
        if chosen and not seat.covers and not seat.leads:
            reward = seat.net - cost if seat.entered else 0.0
            rate = bidder.learning_rate
            learn_value(t, rate, tables[i], bidder.won_last, seat.choice, reward, won)
        bidder.won_last = won


@kernel
def _pace_budgets(p, types, bidders, seats):
    """Raise the multiplier of who spends faster than its budget lasts, lower that of others."""
    for i in range(len(bidders)):
        budget = types[bidders[i].kind].budget
        if 0.0 < budget < np.inf:
            spent = (bidders[i].spent - (budget - seats[i].purse)) / budget
            step = p.pacing_gain * (spent * p.pacing_rounds - 1.0)
            bidders[i].pacing = max(0.0, bidders[i].pacing + step)


@kernel
def _record_truth(
    p, units, rule, played, bidders, values, bids, seats, won, here, top, surplus, order, welfares,
    record,
):  # fmt: skip
    """Fill what the round was worth, which takes values that no auctioneer sees.

    Expects value delivered, revenue and price in the columns of welfare, revenue and price.
    """
    n = len(bidders)
    value = record[_WELFARE]
    _highest(values, here, units, top)
    best = top[:units].sum()
    welfare = min(value / best, 1.0) if best > 0.0 else 0.0
    competitors, out = 0, 0
    for i in range(n):
        seat, bidder = seats[i], bidders[i]
        bidder.surplus = max(p.surplus_memory * bidder.surplus + seat.net, 0.0)
        surplus[i] = bidder.surplus
        competitors += not seat.covers and bids[i, 0] > 0.0 and bids[i, 0] >= rule.reserve
        out += bids[i, 0] == 0.0 or won[i] > seat.delivered
        out += won[n + i] > 0
    gini = normalised_gini(surplus, order)
    steadiness = stability(welfares, 0, played, welfare)
    welfares[played % len(welfares), 0] = welfare
    record[_WELFARE] = welfare
    record[_GINI] = gini
    record[_PARTICIPATION] = competitors / n
    record[_DROPOUTS] = min(out, n)
    record[_STABILITY] = steadiness
    record[_COMPOSITE] = welfare * (1.0 - gini) * record[_PARTICIPATION] * steadiness
    record[_REVENUE_SHARE] = min(record[_REVENUE] / value, 1.0) if value > 0.0 else 0.0


@kernel
def _see(p, played, bids, aliases, wins, dropouts, sightings):
    """Update the decayed means behind the proxies: names, bids' mean and spread, who is out."""
    n = len(bids)
    names, spent, total, squares = 0, 0, 0.0, 0.0
    for i in range(n):
        spent += bids[i, 0] == 0.0 and wins[i] > 0
        for bid in (bids[i, 0], aliases[i]):
            names += bid > 0.0
            total += bid
            squares += bid * bid
    mean = total / max(names, 1)
    variance = max(squares / max(names, 1) - mean * mean, 0.0)
    weight = max(1.0 - p.sighting_memory, 1.0 / (played + 1.0))
    seen = (float(names), mean, math.sqrt(variance), dropouts / n, spent / n)
    for j in range(len(sightings)):
        sightings[j] += weight * (seen[j] - sightings[j])


@kernel
def _record_account(
    p, rule, played, best, bidders, bids, aliases, seats, wins, everyone, here, delivered, order,
    history, sightings, record,
):  # fmt: skip
    """Keep the auctioneer's own account of the round: bids, names, prices and deliveries alone."""
    n = len(bidders)
    account = history[played % HISTORY_LENGTH]
    accepted, present = 0.0, 0
    for i in range(n):
        seat = seats[i]
        accepted += bids[i, 0] * (seat.delivered > 0) + bids[i, 1] * (seat.delivered > 1)
        present += bids[i, 0] > 0.0 and bids[i, 0] >= rule.reserve
        present += aliases[i] > 0.0 and aliases[i] >= rule.reserve
        everyone[i], everyone[n + i] = bids[i, 0], aliases[i]
        bidders[i].units_won = p.surplus_memory * bidders[i].units_won + seat.delivered
        delivered[i] = bidders[i].units_won
        wins[i] += seat.delivered
    welfare = min(accepted / best, 1.0) if best > 0.0 else 0.0
    gini = normalised_gini(delivered, order)
    steadiness = stability(history, _WELFARE, played, welfare)
    record[_COLLUSION] = collusion_signal(everyone, here, wins)
    account[:] = record
    _see(p, played, bids, aliases, wins, record[_DROPOUTS], sightings)
    account[_WELFARE] = welfare
    account[_GINI] = gini
    account[_PARTICIPATION] = min(present / n, 1.0)
    account[_STABILITY] = steadiness
    account[_COMPOSITE] = welfare * (1.0 - gini) * account[_PARTICIPATION] * steadiness
    account[_REVENUE_SHARE] = min(record[_REVENUE] / accepted, 1.0) if accepted > 0.0 else 0.0


@kernel
def _play_episode(
    p, types, rule, units, seed, played, bidders, rings, tables, expected_price, welfares, wins,
    history, sightings, bids_before, bids_now, aliases, records,
):  # fmt: skip
    """Play all rounds of one episode, in the order of docs/market.md; return the price expected."""
    n = len(bidders)
    seats = np.zeros(n, _SEAT)
    values, sincere, bids, other = (
        np.zeros((n, 2)), np.zeros((n, 2)), np.zeros((n, 2)), np.zeros((n, 2)),
    )  # fmt: skip
    top_bids, top_owners = np.zeros(units + 3), np.zeros(units + 3, np.int64)
    won, other_won = np.zeros(2 * n, np.int64), np.zeros(2 * n, np.int64)
    paid, other_paid = np.zeros(2 * n), np.zeros(2 * n)
    no_alias, everyone, here = np.zeros(n), np.zeros(2 * n), np.ones(2 * n, np.bool_)
    amounts, order, unit_order = np.zeros(n), np.arange(n), np.arange(n)
    screened, payoffs = np.zeros(len(rings)), np.zeros(tables.shape[1])
    for r in range(len(records)):
        record = records[r]
        key = round_key(seed, played)
        _draw_values(types, bidders, units, key, values)
        if tables.shape[1] > 0:
            _choose(types, bidders, key, tables, seats)
        _enter(p, types, rule, units, bidders, key, seats)
        _bid_sincerely(p, types, rule, bidders, key, values, sincere, seats)
        for i in range(n):
            bids_before[i] = bids_now[i]
            seats[i].covers = False
            seats[i].leads = False
            bids[i, 0] = sincere[i, 0] if seats[i].entered else 0.0
            bids[i, 1] = sincere[i, 1] if seats[i].entered else 0.0
        shills = _bid_falsely(p, types, rule, bidders, key, expected_price, seats, aliases)
        for ring in range(len(rings)):
            _play_ring(
                p, types, rule, units, bidders, ring, rings[ring], key, values, sincere, bids,
                other, aliases, seats, top_bids, top_owners, other_won, other_paid, screened,
            )  # fmt: skip
        count, price = _clear(rule, units, key, bids, aliases, top_bids, top_owners, won, paid)
        _learn_bidding(
            p, types, rule, units, bidders, key, count, price, values, sincere, bids, seats, tables,
            payoffs, top_bids, top_owners, won,
        )  # fmt: skip
        value, revenue = _settle(p, types, rule, bidders, key, values, won, paid, seats)
        _pace_budgets(p, types, bidders, seats)
        _punish(p, types, rule, bidders, key, aliases, screened, seats)
        if count < units:
            count = rank_bids(bids, aliases, 0.0, key, top_bids, top_owners)
        best = top_bids[: min(units, count)].sum()
        if shills > 0:
            _clear(rule, units, key, bids, no_alias, top_bids, top_owners, other_won, other_paid)
            added = paid[:n].sum() - other_paid[:n].sum()
            _learn_shilling(p, rule, bidders, shills, added, won, aliases, seats)
        _learn_hope(p, rule, bidders, values, sincere, price, seats)
        if tables.shape[1] > 0:
            _learn_values(p, types, rule, units, bidders, sincere, bids, seats, tables)
        if price > 0.0 and _price_is_public(rule):
            expected_price += p.price_gain * (price - expected_price)
        record[_WELFARE], record[_REVENUE], record[_PRICE] = value, revenue, price
        _record_truth(
            p, units, rule, played, bidders, values, bids, seats, won, here, top_bids, amounts,
            order, welfares, record,
        )  # fmt: skip
        _record_account(
            p, rule, played, best, bidders, bids, aliases, seats, wins, everyone, here, amounts,
            unit_order, history, sightings, record,
        )  # fmt: skip
        for i in range(n):
            bids_now[i] = bids[i, 0]
        played += 1
    return expected_price


@parallel_kernel
def play_rounds(
    parameters, types, rules, units, seeds, rounds, bidders, rings, tables, expected_price,
    welfare, wins, history, sightings, previous_bids, bids, aliases, active, records,
):  # fmt: skip
    """Play ``records.shape[1]`` rounds in every episode.

    Changes in place the state arrays ``rounds`` to ``active`` and fills ``records``.
    """
    for e in prange(len(seeds)):
        expected_price[e] = _play_episode(
            parameters[0], types, rules[e], units, seeds[e], rounds[e], bidders[e], rings[e],
            tables[e], expected_price[e], welfare[e], wins[e], history[e], sightings[e],
            previous_bids[e], bids[e], aliases[e], records[e],
        )  # fmt: skip
        rounds[e] += records.shape[1]
        if records.shape[1] > 0:
            for i in range(bids.shape[1]):
                active[e, i] = bids[e, i] > 0.0
