"""Kernels of what follows a sale: delivery, withdrawals, screens, fines and budgets."""

from __future__ import annotations

import numpy as np

from daedalus.market.draws import COLLUSION_SCREEN, SHILL_SCREEN, SHOCK, uniform
from daedalus.market.jit.compilation import Floats, Record, Records, kernel
from daedalus.market.kernels.records import Round
from daedalus.market.kernels.rings import accusation
from daedalus.market.learners import GIVEN


@kernel
def _deliver(
    current: Round, t: Record, bidder: Record, i: int, seat: Record, award: Record
) -> float:
    """Let a winner take delivery or withdraw; return the value delivered."""
    won, paid = award.units, award.paid
    worth: float = seat.value_one + (seat.value_two if won == 2 else 0.0)
    if uniform(current.key, i, SHOCK) < current.parameters.shock_rate:
        worth = 0.0
    fine = current.parameters.fine_unit * current.mechanism.withdrawal_penalty * won
    instead = bidder.outside_option * won - fine if t.withdraws else -fine
    if instead > worth - paid and (worth == 0.0 or t.withdraws):
        seat.net = -fine
        return 0.0
    seat.delivered = won
    seat.net = worth - paid
    bidder.spent += paid
    return worth


@kernel
def _pace_budget(constants: Record, budget: float, bidder: Record, seat: Record) -> None:
    """Scale bids down where a budget is spent too fast to last, and up where it is not."""
    spent = (bidder.spent - (budget - seat.purse)) / budget
    step = constants.pacing_gain * (spent * constants.pacing_rounds - 1.0)
    bidder.pacing = max(0.0, bidder.pacing + step)


@kernel
def _punish(current: Round, i: int, seat: Record, alias: float, evidence: float) -> None:
    """Screen a bidder for a ring and for a false name, and fine it if a screen accuses it.

    Args:
        current: The round.
        i: The bidder's number.
        seat: Its surplus is changed in place.
        alias: Its bid under a false name, or 0.
        evidence: Share of the collusion screen's power that applies to its ring.
    """
    constants, mechanism, key = current.parameters, current.mechanism, current.key
    if seat.delivered > 0:
        chance = accusation(constants, mechanism, evidence)
        if uniform(key, i, COLLUSION_SCREEN) < chance:
            seat.net -= constants.collusion_fine_unit * mechanism.collusion_penalty
    if seat.delivered > 0 or alias > 0.0:
        chance = constants.shill_hit if alias > 0.0 else constants.shill_false
        if uniform(key, i, SHILL_SCREEN) < chance:
            seat.net -= constants.fine_unit * mechanism.shill_penalty


@kernel
def settle(
    current: Round,
    types: Records,
    bidders: Records,
    seats: Records,
    offers: Records,
    awards: Records,
    screened: Floats,
) -> tuple[float, float]:
    """Deliver, pace budgets and fine those whom screens accuse; return value and revenue.

    ``screened`` is the share of the collusion screen's power that applies to each ring.
    """
    value, revenue = 0.0, 0.0
    for i in range(len(seats)):
        seat, bidder, award = seats[i], bidders[i], awards[i]
        t = types[bidder.kind]
        seat.net, seat.delivered = 0.0, 0
        if award.units > 0:
            value += _deliver(current, t, bidder, i, seat, award)
            if seat.delivered > 0:
                revenue += award.paid
        if 0.0 < bidder.budget < np.inf and t.learner != GIVEN:
            _pace_budget(current.parameters, bidder.budget, bidder, seat)
        _punish(current, i, seat, offers[i].alias, screened[t.ring] if t.ring >= 0 else 0.0)
    return value, revenue


@kernel
def pay_shill_bidders(
    current: Round,
    bidders: Records,
    seats: Records,
    offers: Records,
    awards: Records,
    honest: Records,
    shills: int,
) -> None:
    """Give shill bidders a share of what they added to others' payments, and let them learn.

    Several shill bidders divide what they added together. What one of them pays more itself is no
    gain of the seller's confederate, so it does not count for that one.

    Args:
        current: The round.
        bidders: Their estimates are updated in place.
        seats: Their surplus is changed in place.
        offers: Their bids.
        awards: Of the sale.
        honest: Of the same sale without false names.
        shills: Number of false names.
    """
    constants, n = current.parameters, len(seats)
    fine = constants.fine_unit * current.mechanism.withdrawal_penalty
    added = 0.0
    for i in range(n):
        added += awards[i].paid - honest[i].paid
    for i in range(n):
        if offers[i].alias > 0.0:
            bidder, fines = bidders[i], awards[n + i].units * fine
            by_others = added - (awards[i].paid - honest[i].paid)
            earned = constants.shill_share * by_others / shills - fines
            seats[i].net += earned
            bidder.shill_gain += constants.shill_gain * (earned - bidder.shill_gain)
