"""A reserve that binds: how many could have come, and which share of values it kept away.

If each of N bidders comes when its value reaches the reserve, then numbers of bids are binomial,
and those who came bid against N - 1 rivals who might have (Guerre, Perrigne & Vuong 2000, section
4). Sales with one bid are no part of a log's estimate, so numbers count from two. One N, and a
reserve that excludes the same share of values in every sale, are assumed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize, stats

from daedalus.lab.theory.distributions import Integers, Numbers

MOST = 0.95
"""Share of values from which a log does not tell how many stayed away: most sales have two bids."""

BELOW = 0.05
"""Share of bids below their reserve up to which it binds; more do not heed it."""

_LEAST = 2  # bids of a sale of the log
_LOWEST = 0.05  # share of bids
_HUGS = 0.1  # deviations of log bids within which these lie above a reserve that binds
_SURE = 4.0  # deviations by which numbers may vary more than the binomial says


@dataclass(frozen=True)
class Potential:
    """Who could have come.

    Attributes:
        bidders: Number N of potential bidders.
        excluded: Share of values below the reserve, from 0 to 1.
    """

    bidders: int
    excluded: float


def binds(bids: Numbers, reserves: Numbers) -> bool:
    """Return whether next to no bid is below its reserve, so that such bids did not count.

    Args:
        bids: Bids, shape (L,).
        reserves: The reserve of the sale of each bid, shape (L,).
    """
    return bool((bids < reserves).mean() < BELOW)


def excludes(bids: Numbers, reserves: Numbers) -> bool:
    """Return whether bids begin at the reserve, so that it kept bidders away.

    It does if the lowest twentieth of the bids lies just above it. Otherwise all values are well
    above the reserve, or bids do not depend on it.
    """
    if not binds(bids, reserves):
        return False
    above = np.log(bids / reserves)
    return bool(np.quantile(above, _LOWEST) < _HUGS * above.std())


def potential_of(sizes: Integers, weights: Numbers, bidders: int) -> Potential:
    """Return the potential bidders of sales whose reserve binds, by maximum likelihood.

    Args:
        sizes: Number of bids of each sale, 2 or more, shape (A,).
        weights: How often each counts, shape (A,).
        bidders: Number of potential bidders, at least the largest of these.
    """
    mean = float(np.average(sizes, weights=weights))
    if mean >= bidders:
        return Potential(bidders, 0.0)
    if mean <= _moments(bidders, 1.0 - MOST)[0]:
        return Potential(bidders, MOST)
    came = optimize.brentq(lambda share: _moments(bidders, share)[0] - mean, 1.0 - MOST, 1.0 - 1e-9)
    return Potential(bidders, 1.0 - float(came))


def is_binomial(sizes: Integers, potential: Potential) -> bool:
    """Return whether numbers of bids vary no more than those of N potential bidders would."""
    _, variance = _moments(potential.bidders, 1.0 - potential.excluded)
    most = variance * (1.0 + _SURE * np.sqrt(2.0 / len(sizes)))
    return bool(sizes.var() <= most)


def _moments(bidders: int, came: float) -> tuple[float, float]:
    """Return the mean and variance of numbers of bids from ``_LEAST`` up."""
    numbers = np.arange(_LEAST, bidders + 1)
    shares = stats.binom.pmf(numbers, bidders, came)
    if shares.sum() == 0.0:
        return float(_LEAST), 0.0
    shares /= shares.sum()
    mean = float(shares @ numbers)
    return mean, float(shares @ (numbers - mean) ** 2)
