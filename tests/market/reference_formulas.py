"""Formulas of the plain strategic market: equilibrium bids, surpluses and measures."""

from __future__ import annotations

import math

from daedalus.market.mechanism import Mechanism
from tests.market.reference_bidders import Bidder
from tests.market.reference_classic import gini, stability


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(min(-x, 700.0)))


def known_reserve(m: Mechanism) -> float:
    return m.reserve_price if m.reveal_reserve else 0.0


def temptation(b: Bidder, abroad: float, floor: float) -> float:
    """The integral of the chance that no outsider has more, from the floor to what b can pay."""
    value = min(b.values[0], b.purse)
    if value <= floor:
        return 0.0
    return b.belief.integral(floor, value, abroad * b.rivals)


def uniform_price_surplus(
    values: tuple[float, float], second_bid: float, lowest: float, above: float
) -> float:
    """What a bidder gains that bids its first value and ``second_bid``.

    It wins one unit by beating the lowest winning bid of the others, and two by beating the one
    above it as well; the price is the highest bid that loses, which may be its own.
    """
    if second_bid > above:
        return sum(values) - 2 * above
    if values[0] > lowest:
        return values[0] - max(second_bid, lowest)
    return 0.0


def metrics(
    welfares: list[float],
    value: float,
    best: float,
    holdings: list[float],
    participation: float,
    revenue: float,
) -> dict[str, float]:
    """Return the measures of a round, and append its welfare to those before."""
    welfare = min(value / best, 1.0) if best > 0 else 0.0
    welfares.append(welfare)
    n = len(holdings)
    inequality = gini(holdings) * n / (n - 1)  # 1 if one has all
    steady = stability(welfares)
    return {
        "welfare": welfare,
        "gini": inequality,
        "participation": participation,
        "stability": steady,
        "composite": welfare * (1 - inequality) * participation * steady,
        "revenue_share": min(revenue / value, 1.0) if value > 0 else 0.0,
    }
