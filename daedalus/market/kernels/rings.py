"""Kernels of rings: whether a ring colludes, what its members bid, and which of them deviate."""

from __future__ import annotations

import numpy as np

from daedalus.market.auction import clear, pays_own_bid
from daedalus.market.draws import BREAKDOWN, COLLUSION, COVER_BID, LEADER_LOT, uniform
from daedalus.market.jit.compilation import (
    Floats,
    Record,
    Records,
    kernel,
    shared_kernel,
)
from daedalus.market.kernels.bidding import disclosed, known_reserve, logistic, rivals
from daedalus.market.kernels.highest_amounts import NOTHING, with_amount
from daedalus.market.kernels.records import RESTRICT, SUSPECTED, Round
from daedalus.market.kernels.values import expected_rent, shaded_bid

_LEAST_LEADER_BID = 0.01  # in a first-price sale, so that a ring of all bids something
_OVERBID = 0.01  # by which a first-price bid that breaks the deal exceeds the shaded one


@kernel
def _gather(types: Records, bidders: Records, seats: Records, ring: int) -> tuple[int, float]:
    """Mark the members of a ring who entered; return their number and the ring's discretion."""
    size, discretion = 0, 0.0
    for i in range(len(seats)):
        t, seat = types[bidders[i].kind], seats[i]
        seat.in_ring = seat.entered and t.ring == ring
        if seat.in_ring:
            size += 1
            discretion = bidders[i].discretion
    return size, discretion


@kernel
def _affordable(seat: Record) -> float:
    """Return what a bidder would and can pay for a unit."""
    least: float = min(seat.value_one, seat.purse)
    return least


@kernel
def _choose_leaders(
    current: Round, types: Records, bidders: Records, seats: Records, leaders: int
) -> None:
    """Mark the members who bid for the ring: the strongest, or some drawn by lot.

    The strongest can pay most of their value. A member without money leads only if all have none.
    """
    for i in range(len(seats)):
        seats[i].leads = seats[i].leads and not seats[i].in_ring
    for _ in range(leaders):
        best, chosen = -1.0, -1
        for i in range(len(seats)):
            if not seats[i].in_ring or seats[i].leads:
                continue
            strength = _affordable(seats[i])
            if strength > 0.0 and not types[bidders[i].kind].efficient:
                strength = uniform(current.key, i, LEADER_LOT)
            if strength > best:
                best, chosen = strength, i
        seats[chosen].leads = True


@kernel
def _bid_as_leaders(
    mechanism: Record,
    types: Records,
    bidders: Records,
    seats: Records,
    deal: Records,
    outside: float,
) -> float:
    """Fill the leaders' bids, which are against outsiders alone; return the lowest.

    ``outside`` is the share of a member's rivals that are not in the ring.
    """
    reserve = known_reserve(mechanism)
    lowest = np.inf
    for i in range(len(seats)):
        seat, offer, bidder = seats[i], deal[i], bidders[i]
        if not (seat.in_ring and seat.leads):
            continue
        offer.one, offer.two = seat.solo_one, seat.solo_two
        if pays_own_bid(mechanism.auction_type):
            t, outsiders = types[bidder.kind], outside * rivals(bidder)
            low = shaded_bid(t, bidder, seat.value_one, outsiders, reserve)
            two = shaded_bid(t, bidder, seat.value_two, outsiders, reserve)
            offer.one = min(max(low, _LEAST_LEADER_BID), seat.solo_one)
            offer.two = min(two, seat.solo_two)
        lowest = min(lowest, offer.one)
    return lowest


@kernel
def _agree(
    current: Round, types: Records, bidders: Records, seats: Records, deal: Records, size: int
) -> None:
    """Fill the members' part of ``deal``: leaders bid, the others cover for them.

    In a first-price sale a cover bid just under the leaders' costs nothing. In the other formats it
    may set the price. So it goes to the reserve if that is known, and somewhere low if not.
    """
    mechanism, n = current.mechanism, len(seats)
    lowest = _bid_as_leaders(mechanism, types, bidders, seats, deal, (n - size) / (n - 1.0))
    for i in range(n):
        seat = seats[i]
        if seat.in_ring and not seat.leads:
            draw = uniform(current.key, i, COVER_BID)
            cover = 0.5 * lowest * draw
            if pays_own_bid(mechanism.auction_type):
                cover = lowest * (0.9 + 0.08 * draw)
            elif mechanism.reveal_reserve:
                cover = mechanism.reserve_price
            deal[i].one = min(cover, 0.98 * lowest, seat.value_one, seat.purse)
            deal[i].two = 0.0


@kernel
def _ring_surplus(seats: Records, awards: Records) -> float:
    """Return what the members of the ring gain together."""
    total = 0.0
    for i in range(len(seats)):
        seat, award = seats[i], awards[i]
        if seat.in_ring and award.units > 0:
            total += seat.value_one - award.paid
            if award.units == 2:
                total += seat.value_two
    return total


@kernel
def _evidence(
    parameters: Record, seats: Records, deal: Records, discretion: float, reserve: float
) -> float:
    """Return the share of the screen's power that applies to a deal.

    Cover bids that compete at ``reserve`` look serious and hide the deal. The ring reckons with the
    reserve that it knows.
    """
    covers, serious = 0, 0
    for i in range(len(seats)):
        if seats[i].in_ring and not seats[i].leads:
            covers += 1
            serious += deal[i].one > 0.0 and deal[i].one >= reserve
    seriousness = serious / covers if covers > 0 else 1.0
    share: float = (1.0 - discretion) * (1.0 - parameters.camouflage * seriousness)
    return share


@kernel
def accusation(parameters: Record, mechanism: Record, evidence: float) -> float:
    """Return the chance that a winner is fined for collusion.

    ``evidence`` is the share of the screen's power that applies to its deal; 0 without a deal.
    """
    if mechanism.coalition_policy < SUSPECTED:
        return 0.0
    hit, false = parameters.confirmed_hit, parameters.confirmed_false
    if mechanism.coalition_policy == SUSPECTED:
        hit, false = parameters.suspected_hit, parameters.suspected_false
    chance: float = parameters.audit_rate * (false + (hit - false) * evidence)
    return chance


@kernel
def _monitoring(parameters: Record, mechanism: Record) -> float:
    """Return the chance that a ring sees that a member broke its deal."""
    seen: float = parameters.monitoring_base
    if mechanism.reveal_winner_identity:
        seen += parameters.monitoring_winner
    if mechanism.reveal_competing_bids:
        seen += parameters.monitoring_bids
    return seen


@kernel
def _agreed_floor(current: Round, seats: Records, deal: Records) -> float:
    """Return what a member knows that it must beat: the K-th bid of the deal, or the reserve."""
    highest = NOTHING
    for i in range(len(seats)):
        if seats[i].in_ring:
            highest = with_amount(with_amount(highest, deal[i].one), deal[i].two)
    floor: float = max(highest[current.units - 1], known_reserve(current.mechanism))
    return floor


@kernel
def _deviate(
    current: Round,
    types: Records,
    bidders: Records,
    seats: Records,
    deal: Records,
    gain: float,
    size: int,
) -> int:
    """Let members break the deal if that tempts by more than it puts at risk; count them.

    A deviator knows the ring's own bids and has its belief about outsiders: their best value is
    distributed as F^k. With the deal as a floor c, a value v gains the integral of F^k from c to v
    over the better of the floor and the best outsider. This also holds in a first-price sale, where
    the deviator bids as if the floor were a reserve. A member reckons with no more than it can pay.
    """
    parameters, mechanism, n = current.parameters, current.mechanism, len(seats)
    patience = parameters.ring_patience
    stake = _monitoring(parameters, mechanism) * patience / (1.0 - patience) * max(gain, 0.0)
    floor = _agreed_floor(current, seats, deal)
    deviators = 0
    for i in range(n):
        seat, offer = seats[i], deal[i]
        seat.breaks = False
        if not seat.in_ring or seat.leads:
            continue
        bidder = bidders[i]
        t, power = types[bidder.kind], 1.0 + rivals(bidder) * (n - size) / (n - 1.0)
        outsiders = power - 1.0
        # The gain is at most v, and v/p if values are uniform: few members need powers to see that
        # it does not pay.
        value = _affordable(seat)
        if value <= max(floor, stake if t.knots > 0 else min(power * stake, 1.0)):
            continue
        if expected_rent(t, bidder, value, outsiders, floor) <= stake:
            continue
        seat.breaks = True
        offer.one, offer.two = seat.solo_one, seat.solo_two
        if pays_own_bid(mechanism.auction_type):
            bid = shaded_bid(t, bidder, seat.value_one, outsiders, floor) + _OVERBID
            offer.one = min(seat.value_one, bid, seat.purse)
            offer.two = min(seat.solo_two, offer.one, seat.purse - offer.one)
        deviators += 1
    return deviators


@kernel
def _colludes(
    current: Round, ring: int, gain: float, evidence: float, leaders: int, size: int
) -> bool:
    """Return whether a ring colludes: by what it gains less the fines that it risks.

    ``gain`` is what a member gains before fines, ``evidence`` the share of the screen's power that
    applies to the deal, as far as the ring knows. Leaders may win and be fined.
    """
    parameters, mechanism = current.parameters, current.mechanism
    risk = accusation(parameters, mechanism, evidence) - accusation(parameters, mechanism, 0.0)
    fine = parameters.collusion_fine_unit * mechanism.collusion_penalty
    expected = gain - risk * fine * leaders / size
    chance = logistic(expected / parameters.ring_scale)
    if mechanism.coalition_policy == RESTRICT:
        chance *= parameters.restrict_factor
    return uniform(current.key, ring, COLLUSION) < chance


@shared_kernel
def _sell(current: Round, offers: Records, ranking: Records, awards: Records) -> tuple[int, float]:
    """Sell to these offers; return how many bids compete, and the clearing price."""
    mechanism = current.mechanism
    count, price = clear(
        mechanism.auction_type, current.units, mechanism.reserve_price, current.key, offers, True,
        ranking, awards,
    )  # fmt: skip
    return count, price


@kernel
def _conclude(seats: Records, offers: Records, deal: Records, colludes: bool) -> None:
    """Turn the deal into offers if the ring colludes; if it competes, nobody leads it."""
    for i in range(len(seats)):
        seat = seats[i]
        if not colludes:
            seat.leads = seat.leads and not seat.in_ring
        elif seat.in_ring:
            seat.covers = not seat.leads and not seat.breaks
            offers[i].one, offers[i].two = deal[i].one, deal[i].two


@kernel
def _copy_sale(ranking: Records, awards: Records, trial_ranking: Records, trial: Records) -> None:
    """Let a trial sale take the place of the sale."""
    for place in range(len(ranking)):
        ranked, other = ranking[place], trial_ranking[place]
        ranked.bid, ranked.owner = other.bid, other.owner
    for owner in range(len(awards)):
        award, another = awards[owner], trial[owner]
        award.units, award.paid = another.units, another.paid


@kernel
def _play_ring(
    current: Round,
    types: Records,
    bidders: Records,
    seats: Records,
    offers: Records,
    ring: int,
    own: Record,
    sale: tuple[int, float],
    ranking: Records,
    awards: Records,
    deal: Records,
    trial_ranking: Records,
    trial: Records,
) -> tuple[float, tuple[int, float]]:
    """Let a ring decide, bid and deviate; return its share of the screen's power, and the sale.

    Changes seats, offers, the sale and the ring's own record. The record estimates what collusion
    earns a member beyond competition in the same round. The estimate is before fines: these are
    announced and need no learning. The last three arguments are scratch.
    """
    parameters, mechanism = current.parameters, current.mechanism
    size, discretion = _gather(types, bidders, seats, ring)
    if own.punished > 0:
        own.punished -= 1
        return 0.0, sale
    if size < 2:
        return 0.0, sale
    leaders = min(size, max(1, -(-size * current.units // len(seats))))
    _choose_leaders(current, types, bidders, seats, leaders)
    for i in range(len(seats)):
        deal[i].one, deal[i].two, deal[i].alias = offers[i].one, offers[i].two, offers[i].alias
    _agree(current, types, bidders, seats, deal, size)
    known = _evidence(parameters, seats, deal, discretion, known_reserve(mechanism))
    screened = _evidence(parameters, seats, deal, discretion, mechanism.reserve_price)
    colludes = _colludes(current, ring, own.gain, known, leaders, size)
    deviators = _deviate(current, types, bidders, seats, deal, own.gain, size)
    sale_of_deal = _sell(current, deal, trial_ranking, trial)
    gained = (_ring_surplus(seats, trial) - _ring_surplus(seats, awards)) / size
    told = disclosed(parameters, mechanism, mechanism.reveal_clearing_price)
    own.gain += parameters.ring_gain * told * (gained - own.gain)
    _conclude(seats, offers, deal, colludes)
    if not colludes:
        return 0.0, sale
    _copy_sale(ranking, awards, trial_ranking, trial)
    if deviators > 0 and uniform(current.key, ring, BREAKDOWN) < parameters.breakdown:
        own.punished = int(parameters.punishment_rounds)
    return screened, sale_of_deal


@kernel
def sell_with_rings(
    current: Round,
    types: Records,
    bidders: Records,
    seats: Records,
    offers: Records,
    rings: Records,
    screened: Floats,
    ranking: Records,
    awards: Records,
    deal: Records,
    trial_ranking: Records,
    trial: Records,
) -> tuple[int, float]:
    """Sell after each ring has decided; return how many bids compete, and the clearing price.

    A ring compares its deal with the sale as it stands, so each ring needs one more sale.

    Args:
        current: The round.
        types: Bidder types.
        bidders: What they believe.
        seats: What members do is filled in place.
        offers: Bids of members that collude are changed in place.
        rings: Their own records are updated in place.
        screened: Share of the screen's power that applies to each ring, filled in place.
        ranking: The highest bids, filled in place.
        awards: What owners win, filled in place.
        deal: Scratch of the shape of ``offers``.
        trial_ranking: Scratch of the shape of ``ranking``.
        trial: Scratch of the shape of ``awards``.
    """
    sale = _sell(current, offers, ranking, awards)
    for ring in range(len(rings)):
        screened[ring], sale = _play_ring(
            current, types, bidders, seats, offers, ring, rings[ring], sale, ranking, awards, deal,
            trial_ranking, trial,
        )  # fmt: skip
    return sale
