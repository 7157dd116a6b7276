"""Ex-post regret of truthful bids in one sale: what they lose against the best, all bids known.

This is the regret of Duetting et al. (2019). The best bids are just above those that they beat.
Money is in units of value.
"""

from __future__ import annotations

import numpy as np

from daedalus.lab.theory import sales
from daedalus.lab.theory.deviations import Contest
from daedalus.lab.theory.distributions import Numbers
from daedalus.lab.theory.formats import pays_own_bid, pays_personal_price
from daedalus.lab.theory.sales import Bidder


def mean_regret(contest: Contest, bidder: Bidder, bids: Numbers, seat: int) -> tuple[float, float]:
    """Return the mean ex-post regret and its error; it is drawn only if two units are wanted.

    In first price a bidder for one unit gains v - x where x is the bid or reserve to beat, so its
    mean is the integral of (1 - F) W. In VCG, and for one unit of a uniform price, it gains 0.
    """
    if bidder.demand == 1:
        return _first_price_regret(contest, bidder), 0.0
    if pays_personal_price(contest.auction_type):
        return 0.0, 0.0
    others = np.delete(bids, seat, axis=1).reshape(len(bids), -1)
    thresholds = np.maximum(_highest(others, contest.units), contest.reserve)
    regrets = two_unit_regrets(contest.auction_type, bids[:, seat], thresholds)
    return float(regrets.mean()), float(2.0 * regrets.std() / np.sqrt(len(regrets)))


def _first_price_regret(contest: Contest, bidder: Bidder) -> float:
    if not pays_own_bid(contest.auction_type):
        return 0.0
    everyone = [bidder, *contest.rivals]
    knots = sales.knots_of(everyone, contest.reserve)
    knots = knots[knots <= bidder.values.places[-1]]
    degree = sum(each.demand for each in everyone)

    def gained(at: Numbers) -> Numbers:
        return np.asarray((1.0 - bidder.values.up_to(at)) * contest.wins(at)[0])

    return float(sales.area(gained, knots, degree)) if len(knots) > 1 else 0.0


def two_unit_regrets(auction_type: str, values: Numbers, thresholds: Numbers) -> Numbers:
    """Return the ex-post regrets of truthful bidders for two units, shape (S,).

    Units j = 1 and 2 are won by bids above a threshold t_j, the (K - j + 1)-th highest rival bid or
    the reserve. The best bids win 0, 1 or 2 units at t_j each.

    Args:
        auction_type: One of ``FORMATS_WITH_THEORY``. In VCG the regrets are 0.
        values: Values of both units, the higher first, shape (S, 2).
        thresholds: The t_j, shape (S, 2), the lower first.

    Raises:
        CannotRunError: The theory of the format is not known.
    """
    if pays_personal_price(auction_type):
        return np.zeros(len(values))
    (one, two), (first, second) = values.T, thresholds.T
    best = np.maximum.reduce([np.zeros_like(one), one - first, one + two - 2.0 * second])
    if pays_own_bid(auction_type):
        return np.asarray(best)
    single = np.where(one > first, one - np.maximum(first, two), 0.0)
    truthful = np.where(two > second, one + two - 2.0 * second, np.maximum(single, 0.0))
    return np.asarray(best - truthful)


def _highest(bids: Numbers, units: int) -> Numbers:
    """Return the K-th and the (K-1)-th highest of each row, shape (S, 2); 0 where there is none."""
    padded = np.pad(bids, ((0, 0), (0, units)))
    ordered = np.sort(padded, axis=1)[:, ::-1]
    return np.asarray(ordered[:, [units - 1, max(units - 2, 0)]])


def worst_regret(contest: Contest, bidder: Bidder) -> float:
    """Return the supremum of the ex-post regret over the values of all bidders.

    It is of all units that the bidder wants, in units of value: from 0 to its demand, 1 or 2.

    In first price it is the gain of the highest values against the lowest bids. In a uniform price
    a second bid just below t_2 raises the price of the first from t_1.
    """
    rivals = [each.values for each in contest.rivals for _ in range(each.demand)]
    lows = np.array([[each.lowest for each in rivals]])
    highs = np.array([[each.highest for each in rivals]])
    first, second = np.maximum(_highest(lows, contest.units), contest.reserve)[0]
    top = bidder.values.highest
    if pays_own_bid(contest.auction_type):
        both = 2.0 * (top - second) if bidder.demand == 2 else 0.0
        return float(max(0.0, top - first, both))
    if pays_personal_price(contest.auction_type) or bidder.demand == 1:
        return 0.0
    return float(max(0.0, min(top, _highest(highs, contest.units)[0, 1]) - first))
