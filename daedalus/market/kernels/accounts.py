"""Kernels of a round's records: what the round was worth, and what the auctioneer sees of it."""

from __future__ import annotations

import math

from daedalus.market.jit.compilation import Flags, Floats, Integers, Records, kernel
from daedalus.market.kernels.highest_amounts import NOTHING, total_of, with_amount
from daedalus.market.kernels.records import Round
from daedalus.market.measures import (
    RECENT_ROUNDS,
    collusion_signal,
    normalised_gini,
    stability,
)
from daedalus.market.outcome import (
    COLLUSION_SIGNAL,
    COMPOSITE,
    DROPOUTS,
    GINI,
    PARTICIPATION,
    REVENUE,
    REVENUE_SHARE,
    STABILITY,
    WELFARE,
)


@kernel
def _best_value(seats: Records, units: int) -> float:
    """Return the sum of the K highest values."""
    highest = NOTHING
    for i in range(len(seats)):
        highest = with_amount(with_amount(highest, seats[i].value_one), seats[i].value_two)
    return total_of(highest, units)


@kernel
def _count_bidders(
    reserve: float, seats: Records, offers: Records, awards: Records
) -> tuple[int, int]:
    """Return how many bidders competed, and how many stayed out or walked away."""
    n, competitors, out = len(seats), 0, 0
    for i in range(n):
        seat, bid = seats[i], offers[i].one
        competitors += not seat.covers and bid > 0.0 and bid >= reserve
        out += bid == 0.0 or awards[i].units > seat.delivered
        out += awards[n + i].units > 0
    return competitors, min(out, n)


@kernel
def _measure(
    current: Round,
    value: float,
    best: float,
    participation: float,
    revenue: float,
    welfares: Floats,
    order: Integers,
    amounts: Floats,
    record: Floats,
) -> None:
    """Fill the measures of a round in which ``value`` was delivered of the ``best`` there was.

    ``welfares`` and ``order`` (bidders by ``amounts``) are updated in place.
    """
    welfare = min(value / best, 1.0) if best > 0.0 else 0.0
    gini = normalised_gini(amounts, order)
    steadiness = stability(welfares, current.number, welfare)
    welfares[current.number % RECENT_ROUNDS] = welfare
    record[WELFARE] = welfare
    record[GINI] = gini
    record[PARTICIPATION] = participation
    record[STABILITY] = steadiness
    record[COMPOSITE] = welfare * (1.0 - gini) * participation * steadiness
    record[REVENUE_SHARE] = min(revenue / value, 1.0) if value > 0.0 else 0.0


@kernel
def record_truth(
    current: Round,
    bidders: Records,
    seats: Records,
    offers: Records,
    awards: Records,
    welfares: Floats,
    order: Integers,
    amounts: Floats,
    record: Floats,
) -> None:
    """Fill what the round was worth, which takes values that no auctioneer sees.

    Args:
        current: The round.
        bidders: Their accumulated surplus is updated in place.
        seats: What the bidders did.
        offers: Their bids.
        awards: What they won.
        welfares: Ring buffer of welfare, updated in place.
        order: Bidders by surplus, updated in place.
        amounts: Scratch, shape (n,).
        record: Filled in place. Expects value delivered, revenue and price in the columns of
            welfare, revenue and price.
    """
    constants, value = current.parameters, record[WELFARE]
    best = _best_value(seats, current.units)
    for i in range(len(seats)):
        bidder = bidders[i]
        bidder.surplus = max(constants.surplus_memory * bidder.surplus + seats[i].net, 0.0)
        amounts[i] = bidder.surplus
    competitors, out = _count_bidders(current.mechanism.reserve_price, seats, offers, awards)
    record[DROPOUTS] = out
    _measure(
        current, value, best, competitors / len(seats), record[REVENUE], welfares, order, amounts,
        record,
    )  # fmt: skip


@kernel
def _see(
    current: Round, offers: Records, wins: Integers, dropouts: float, sightings: Floats
) -> None:
    """Update the decayed means behind the proxies: names, mean and spread of bids, absences."""
    n = len(offers)
    names, spent, total, squares = 0, 0, 0.0, 0.0
    for i in range(n):
        spent += offers[i].one == 0.0 and wins[i] > 0
        for bid in (offers[i].one, offers[i].alias):
            names += bid > 0.0
            total += bid
            squares += bid * bid
    mean = total / max(names, 1)
    variance = max(squares / max(names, 1) - mean * mean, 0.0)
    weight = max(1.0 - current.parameters.sighting_memory, 1.0 / (current.number + 1.0))
    seen = (float(names), mean, math.sqrt(variance), dropouts / n, spent / n)
    for j in range(len(sightings)):
        sightings[j] += weight * (seen[j] - sightings[j])


@kernel
def _count_names(reserve: float, offers: Records, bids: Floats) -> int:
    """Fill ``bids`` with first bids, then false-name bids; return how many of them compete."""
    n, present = len(offers), 0
    for i in range(n):
        bids[i], bids[n + i] = offers[i].one, offers[i].alias
        present += bids[i] > 0.0 and bids[i] >= reserve
        present += bids[n + i] > 0.0 and bids[n + i] >= reserve
    return present


@kernel
def record_account(
    current: Round,
    bidders: Records,
    seats: Records,
    offers: Records,
    best: float,
    wins: Integers,
    welfares: Floats,
    sightings: Floats,
    order: Integers,
    amounts: Floats,
    bids: Floats,
    everyone: Flags,
    record: Floats,
    account: Floats,
) -> None:
    """Keep the auctioneer's own account of the round: bids, names, prices and deliveries alone.

    Args:
        current: The round.
        bidders: Their accumulated deliveries are updated in place.
        seats: What was delivered to the bidders.
        offers: Their bids.
        best: Sum of the K highest bids.
        wins: Units delivered so far, updated in place.
        welfares: Ring buffer of the accounts' welfare, updated in place.
        sightings: Decayed means, updated in place.
        order: Bidders by deliveries, updated in place.
        amounts: Scratch, shape (n,).
        bids: Scratch, shape (2n,).
        everyone: All true, shape (2n,).
        record: What the round was worth; its collusion signal is filled in place.
        account: Filled in place.
    """
    memory, accepted = current.parameters.surplus_memory, 0.0
    for i in range(len(seats)):
        delivered, bidder = seats[i].delivered, bidders[i]
        accepted += offers[i].one * (delivered > 0) + offers[i].two * (delivered > 1)
        bidder.units_won = memory * bidder.units_won + delivered
        amounts[i] = bidder.units_won
        wins[i] += delivered
    present = _count_names(current.mechanism.reserve_price, offers, bids)
    record[COLLUSION_SIGNAL] = collusion_signal(bids, everyone, wins, len(seats))
    for column in range(len(record)):
        account[column] = record[column]
    _see(current, offers, wins, record[DROPOUTS], sightings)
    _measure(
        current, accepted, best, min(present / len(seats), 1.0), record[REVENUE], welfares, order,
        amounts, account,
    )  # fmt: skip
