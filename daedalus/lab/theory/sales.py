"""Revenue and welfare of one sale of K units, under independent values of any distribution.

Bidders bid their values. A bidder for two units values them at the higher and the lower of two
draws. Every probability is a polynomial between the knots of the distributions, so that
Gauss-Legendre quadrature between the knots is exact up to rounding. Money is in units of value. A
reserve r is the lowest bid that competes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from daedalus.lab.theory.distributions import Distribution, Numbers


class Bidder(NamedTuple):
    """A bidder of one sale.

    Attributes:
        values: The distribution of its draws.
        demand: Number of units that it can use, 1 or 2.
    """

    values: Distribution
    demand: int = 1

    def counts(self, at: Numbers, step: complex = 0.0) -> NDArray[Any]:
        """Return the probabilities that 0, 1 or 2 of its bids exceed X numbers, (demand + 1, X).

        An imaginary step makes the imaginary parts their derivatives, times the step's size.
        """
        below = self.values.up_to(at)
        if step:
            below = below + step * self.values.density(at)
        if self.demand == 1:
            return np.array([below, 1.0 - below])
        return np.array([below**2, 2.0 * below * (1.0 - below), (1.0 - below) ** 2])


def symmetric(values: Distribution, bidders: int) -> list[Bidder]:
    """Return n bidders for one unit whose values have one distribution."""
    return [Bidder(values)] * bidders


def counted(bidders: Sequence[Bidder], at: Numbers, most: int, step: complex = 0.0) -> NDArray[Any]:
    """Return the probabilities that 0, 1, ... bids exceed X numbers.

    Args:
        bidders: The bidders; without any, no bid exceeds a number.
        at: The numbers, shape (X,).
        most: The largest number M of bids that is told apart.
        step: An imaginary step for derivatives, see ``Bidder.counts``.

    Returns:
        Probabilities of 0 to M - 1 bids and, in the last row, of M or more, shape (M + 1, X).
    """
    known = np.zeros((most + 1, len(at)), np.result_type(step, np.float64))
    known[0] = 1.0
    for bidder in bidders:
        before, known = known, np.zeros_like(known)
        for more, share in enumerate(bidder.counts(at, step)):
            for count in range(most + 1):
                known[min(count + more, most)] += share * before[count]
    return known


def exceeding(bidders: Sequence[Bidder], at: Numbers, most: int) -> Numbers:
    """Return the probabilities that at least 1, 2, ..., M bids exceed X numbers, shape (M, X)."""
    return np.cumsum(counted(bidders, at, most)[::-1], axis=0)[::-1][1:]


def knots_of(bidders: Sequence[Bidder], low: float) -> Numbers:
    """Return a lower end and all knots above it, sorted; between them nothing has a kink."""
    places = np.concatenate([[low], *(each.values.places for each in bidders)])
    return np.unique(places[places >= low])


def nodes(breaks: Numbers, degree: int) -> tuple[Numbers, Numbers]:
    """Return places and weights that integrate polynomials of a degree exactly between breaks.

    Args:
        breaks: B numbers, sorted.
        degree: The degree, from 0 up.

    Returns:
        Places and weights, each of shape (B - 1, P).
    """
    unit, weights = np.polynomial.legendre.leggauss(degree // 2 + 1)
    half = np.diff(breaks)[:, None] / 2.0
    return breaks[:-1, None] + half * (1.0 + unit), half * weights


def area(function: Callable[[Numbers], Numbers], breaks: Numbers, degree: int) -> Numbers:
    """Integrate a function of (X,) to (..., X) over all intervals between breaks, shape (...,)."""
    places, weights = nodes(breaks, degree)
    return np.asarray((function(places.ravel()) * weights.ravel()).sum(axis=-1))


def area_up_to(
    function: Callable[[Numbers], Numbers], at: Numbers, breaks: Numbers, degree: int
) -> Numbers:
    """Integrate a function from the first break to X numbers from there up, shape (X,)."""
    breaks = np.union1d(breaks, at[at > breaks[0]])
    places, weights = nodes(breaks, degree)
    parts = (function(places.ravel()).reshape(places.shape) * weights).sum(axis=1)
    return np.asarray(np.interp(at, breaks, np.concatenate([[0.0], np.cumsum(parts)])))


def expected_welfare(bidders: Sequence[Bidder], reserve: float = 0.0, units: int = 1) -> float:
    """Return the value of the K highest bids that reach the reserve.

    Args:
        bidders: The bidders.
        reserve: Lowest bid r that competes.
        units: Supply K.
    """
    return float(_sold(bidders, reserve, units).sum() * reserve) + float(
        _areas(bidders, reserve, units).sum()
    )


def expected_revenue(bidders: Sequence[Bidder], reserve: float = 0.0, units: int = 1) -> float:
    """Return the revenue of a uniform-price sale, or with one unit of a second-price sale.

    Winners pay the (K+1)-th highest bid or the reserve. If nobody wants two units, VCG has the same
    revenue (Krishna 2009, section 12.1).

    Args:
        bidders: The bidders.
        reserve: Lowest bid r that competes.
        units: Supply K.
    """
    above = _areas(bidders, reserve, units + 1)[units]
    return float(_sold(bidders, reserve, units).sum() * reserve + units * above)


def optimal_revenue(values: Sequence[Distribution], units: int = 1) -> float:
    """Return the highest revenue of any mechanism, if each of n bidders wants one unit.

    It is the mean sum of the K highest ironed virtual values above 0 (Myerson 1981).

    Args:
        values: Each bidder's distribution.
        units: Supply K.
    """
    return expected_welfare([Bidder(each.ironed) for each in values], 0.0, units)


def best_reserve(bidders: Sequence[Bidder], units: int = 1) -> float:
    """Return the reserve at which ``expected_revenue`` is highest, to 1e-9.

    Revenue may have several peaks; the best of all knots and of some 64 starts is refined.
    """
    breaks = knots_of(bidders, 0.0)
    each, last = -(-64 // (len(breaks) - 1)), len(breaks) - 1
    steps = np.interp(np.arange(each * last + 1) / each, range(last + 1), breaks)
    found = [expected_revenue(bidders, float(step), units) for step in steps]
    best = int(np.argmax(found))
    low, high = float(steps[max(best - 1, 0)]), float(steps[min(best + 1, len(steps) - 1)])
    for _ in range(60):  # golden section
        near, far = low + 0.381966 * (high - low), low + 0.618034 * (high - low)
        if expected_revenue(bidders, near, units) < expected_revenue(bidders, far, units):
            low = near
        else:
            high = far
    inside = (low + high) / 2.0
    kept = expected_revenue(bidders, inside, units) > found[best]
    return inside if kept else float(steps[best])


def first_price_bids(
    values: Numbers, distribution: Distribution, bidders: int, reserve: float = 0.0, units: int = 1
) -> Numbers:
    """Return the symmetric equilibrium bids of a pay-as-bid sale to bidders for one unit.

    A bid is v less the integral of W from r to v, over W(v), where W(x) is the probability that
    fewer than K of n - 1 rivals have more than x; with one unit it is F(x)^(n-1) (Krishna 2009,
    section 2.5). Where W is 0 the bid is v. Integrals are exact.

    Args:
        values: Values from the reserve up, shape (V,).
        distribution: Their distribution, without atoms.
        bidders: Number of bidders n, above K.
        reserve: Lowest bid r that competes.
        units: Supply K.

    Raises:
        ValueError: The distribution has an atom; the equilibrium is then in mixed bids.
    """
    if (np.diff(distribution.places) == 0.0).any():
        raise ValueError("values: several knots at one place; spread them, so that no value ties")
    rivals = symmetric(distribution, bidders - 1)

    def wins(at: Numbers) -> Numbers:
        return np.asarray(counted(rivals, at, units)[:units].sum(axis=0))

    rent = area_up_to(wins, values, knots_of(rivals, reserve), bidders - 1)
    chance = wins(values)
    rent = np.divide(rent, chance, out=np.zeros_like(rent), where=chance > 0.0)
    return np.asarray(values - rent)


def _areas(bidders: Sequence[Bidder], reserve: float, most: int) -> Numbers:
    """Return the integrals from r up of P(at least k bids exceed x), for k from 1, shape (M,)."""
    degree = sum(each.demand for each in bidders)
    return area(lambda at: exceeding(bidders, at, most), knots_of(bidders, reserve), degree)


def _sold(bidders: Sequence[Bidder], reserve: float, units: int) -> Numbers:
    """Return the probabilities that at least 1, ..., K bids reach the reserve, shape (K,)."""
    if reserve <= 0.0:
        return np.ones(units)  # multiplied by the reserve
    return exceeding(bidders, np.array([np.nextafter(reserve, 0.0)]), units)[:, 0]
