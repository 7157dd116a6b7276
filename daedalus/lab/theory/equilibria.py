"""Predictions of auction theory for values drawn from U[0, 1].

Money is in units of value. Bidders, n in number, know the reserve r, the lowest bid that competes.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize, special

from daedalus.lab.theory.distributions import Numbers


def first_price_bid(values: Numbers, bidders: int, reserve: float = 0.0) -> Numbers:
    """Return the symmetric equilibrium bids of a first-price sale (Krishna 2009, section 2.5).

    A bidder bids the mean of the best rival value, given that this value is below its own:
    v (n-1)/n + r^n / (n v^(n-1)).

    Args:
        values: Values v, any shape, above 0 and from the reserve to 1.
        bidders: Number of bidders n.
        reserve: Lowest bid r that competes.
    """
    return values * (bidders - 1) / bidders + reserve**bidders / (bidders * values ** (bidders - 1))


def expected_revenue(bidders: int, reserve: float = 0.0, ring: int = 1) -> float:
    """Return the revenue of a second-price sale with a ring, of which only the best member bids.

    A ring of k acts as one bidder whose value is the best of k (Graham & Marshall 1987). The price
    exceeds x >= r if two of the remaining bidders have values above x. With m = n - k, the revenue
    is so r (1 - r^n) plus the integral of 1 - x^m - m x^(n-1) + m x^n from r to 1. Without a ring
    it is (n-1)/(n+1) + r^n (1 - 2 n r/(n+1)), and the same in a first-price sale (Myerson 1981).

    Args:
        bidders: Number of bidders n.
        reserve: Lowest bid r that competes, 0 to 1.
        ring: Number of members k of the ring, 1 to n; 1 is no ring.
    """
    n, r, m = bidders, reserve, bidders - ring

    def integral(x: float) -> float:
        return x - x ** (m + 1) / (m + 1) - m * x**n / n + m * x ** (n + 1) / (n + 1)

    return r * (1.0 - r**n) + integral(1.0) - integral(r)


def best_reserve(bidders: int, ring: int = 1) -> float:
    """Return the reserve at which ``expected_revenue`` is highest, in (0, 1).

    Its derivative is 0 where 1 + m r^(k-1) = (n + m + 1) r^k, with m = n - k. Without a ring this
    is at 0.5 (Myerson 1981); against a ring it is higher (Graham & Marshall 1987).
    """
    outsiders = bidders - ring

    def slope(reserve: float) -> float:
        rise = 1.0 + outsiders * reserve ** (ring - 1)
        return rise - (bidders + outsiders + 1) * reserve**ring

    return float(optimize.brentq(slope, 1e-9, 1.0))


def expected_welfare(bidders: int, reserve: float = 0.0) -> float:
    """Return the value delivered if the best of n bidders wins, unless it is below the reserve.

    This is n/(n+1) (1 - r^(n+1)), the mean of the highest value, counted as 0 below the reserve.
    """
    return bidders / (bidders + 1) * (1.0 - reserve ** (bidders + 1))


def pay_as_bid(values: Numbers, bidders: int, units: int) -> Numbers:
    """Return the symmetric equilibrium bids of a pay-as-bid sale of K units to unit demand.

    A bidder wins if its value exceeds the K-th highest of its n - 1 rivals, which is distributed as
    Beta(n-K, K). It bids the mean of that value, given that it is below its own (Krishna 2009,
    section 13.5).

    Args:
        values: Values, any shape, in (0, 1].
        bidders: Number of bidders n, above K.
        units: Supply K.
    """
    a, b = bidders - units, units
    below = special.betainc(a + 1, b, values) / special.betainc(a, b, values)
    return np.asarray(a / (a + b) * below, np.float64)


def expected_units_revenue(bidders: int, units: int) -> float:
    """Return the revenue of K units sold to n bidders of unit demand, K (n-K)/(n+1).

    In each of the three formats, winners pay the highest losing value on average (Krishna 2009,
    section 14.1).
    """
    return units * (bidders - units) / (bidders + 1)


def entry_cutoff(bidders: int, cost: float) -> float:
    """Return the lowest value with which bidders enter a second-price sale (Samuelson 1985).

    A bidder with this value v gains only if it is alone, so v v^(n-1) equals the cost c.
    """
    return float(cost ** (1.0 / bidders))
