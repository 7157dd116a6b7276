"""Kernels of what follows a sale: delivery, withdrawals, screens, fines and budgets."""

from __future__ import annotations

import numpy as np

from daedalus.market.compilation import Floats, Records, kernel
from daedalus.market.draws import COLLUSION_SCREEN, SHILL_SCREEN, SHOCK, uniform
from daedalus.market.kernels.records import Round
from daedalus.market.kernels.rings import accusation


@kernel
def settle(
    current: Round, types: Records, bidders: Records, seats: Records, awards: Records
) -> tuple[float, float]:
    """Let winners take delivery or withdraw; return value and revenue delivered."""
    value, revenue = 0.0, 0.0
    for i in range(len(seats)):
        seat, bidder, won, paid = seats[i], bidders[i], awards[i].units, awards[i].paid
        seat.net, seat.delivered = 0.0, 0
        if won == 0:
            continue
        t = types[bidder.kind]
        worth = seat.value_one + (seat.value_two if won == 2 else 0.0)
        if uniform(current.key, i, SHOCK) < current.parameters.shock_rate:
            worth = 0.0
        fine = current.mechanism.withdrawal_fine * won
        instead = t.outside * won - fine if t.withdraws else -fine
        if instead > worth - paid and (worth == 0.0 or t.withdraws):
            seat.net = -fine
            continue
        seat.delivered = won
        seat.net = worth - paid
        bidder.spent += paid
        value += worth
        revenue += paid
    return value, revenue


@kernel
def pace_budgets(current: Round, types: Records, bidders: Records, seats: Records) -> None:
    """Scale bids down where a budget is spent too fast to last, and up where it is not."""
    constants = current.parameters
    for i in range(len(seats)):
        bidder = bidders[i]
        budget = types[bidder.kind].budget
        if 0.0 < budget < np.inf:
            spent = (bidder.spent - (budget - seats[i].purse)) / budget
            step = constants.pacing_gain * (spent * constants.pacing_rounds - 1.0)
            bidder.pacing = max(0.0, bidder.pacing + step)


@kernel
def punish(
    current: Round,
    types: Records,
    bidders: Records,
    seats: Records,
    offers: Records,
    screened: Floats,
) -> None:
    """Screen for rings and false names, and fine the bidders that the screens accuse.

    ``screened`` is the share of the collusion screen's power that applies to each ring.
    """
    constants, mechanism, key = current.parameters, current.mechanism, current.key
    for i in range(len(seats)):
        seat, ring = seats[i], types[bidders[i].kind].ring
        if seat.delivered > 0:
            chance = accusation(constants, mechanism, screened[ring] if ring >= 0 else 0.0)
            if uniform(key, i, COLLUSION_SCREEN) < chance:
                seat.net -= mechanism.collusion_fine
        chance = constants.shill_false * (seat.delivered > 0)
        if offers[i].alias > 0.0:
            chance = constants.shill_hit
        if uniform(key, i, SHILL_SCREEN) < chance:
            seat.net -= mechanism.shill_fine


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
    """Give shill bidders a share of what they added to payments, and let them learn from it.

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
    with_shills, without = 0.0, 0.0
    for i in range(n):
        with_shills += awards[i].paid
        without += honest[i].paid
    for i in range(n):
        if offers[i].alias > 0.0:
            bidder, fine = bidders[i], awards[n + i].units * current.mechanism.withdrawal_fine
            earned = constants.shill_share * (with_shills - without) / shills - fine
            seats[i].net += earned
            bidder.shill_gain += constants.shill_gain * (earned - bidder.shill_gain)
