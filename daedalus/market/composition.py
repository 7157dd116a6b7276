"""The type of each bidder of an episode, and how it differs from other bidders of its type."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from daedalus.market.draws import (
    COMPOSITION_ROUND,
    GAMMA_ACCEPTANCE,
    GAMMA_ANGLE,
    GAMMA_BOOST,
    GAMMA_RADIUS,
    GAMMA_TRIES,
    SOLE_TYPE,
    TRAITS_ROUND,
    round_key,
    uniform,
)
from daedalus.market.jit.compilation import (
    Floats,
    Integers,
    allocating_kernel,
    cached_kernel,
    kernel,
)


@kernel
def _gamma(shape: float, key: np.uint64, index: int) -> float:
    """Draw from the gamma distribution of any shape by Marsaglia & Tsang (2000)."""
    boosted = shape if shape >= 1.0 else shape + 1.0
    d = boosted - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    value = d
    for attempt in range(GAMMA_TRIES):
        owner = index * GAMMA_TRIES + attempt
        radius = math.sqrt(-2.0 * math.log(1.0 - uniform(key, owner, GAMMA_RADIUS)))
        normal = radius * math.cos(2.0 * math.pi * uniform(key, owner, GAMMA_ANGLE))
        cube = (1.0 + c * normal) ** 3
        if cube <= 0.0:
            continue
        accept = math.log(1.0 - uniform(key, owner, GAMMA_ACCEPTANCE))
        if accept < 0.5 * normal * normal + d - d * cube + d * math.log(cube):
            value = d * cube
            break
    if shape < 1.0:
        value *= (1.0 - uniform(key, index * GAMMA_TRIES, GAMMA_BOOST)) ** (1.0 / shape)
    return value


@allocating_kernel
def _apportion(shares: Floats, n: int, kind: NDArray[np.int8]) -> None:
    """Give n seats to types by largest remainder, in order; a tie goes to the earlier type."""
    left = n
    counts, remainders = np.empty(len(shares), np.int64), np.empty(len(shares))
    for t in range(len(shares)):
        counts[t] = math.floor(n * shares[t] + 1e-9)
        left -= counts[t]
        # rounded, so that ties are exact
        remainders[t] = math.floor(1e9 * (n * shares[t] - counts[t]) + 0.5)
    for _ in range(left):
        chosen = 0
        for t in range(len(shares)):
            if remainders[t] > remainders[chosen]:
                chosen = t
        counts[chosen] += 1
        remainders[chosen] -= 1e9
    seat = 0
    for t in range(len(shares)):
        for _ in range(counts[t]):
            kind[seat] = t
            seat += 1


@kernel
def _sole_type(shares: Floats, draw: float) -> int:
    """Return the type of all seats, drawn in proportion to the shares."""
    chosen, below = 0, shares[0]
    while below <= draw and chosen < len(shares) - 1:
        chosen += 1
        below += shares[chosen]
    return chosen


@kernel
def _draw_shares(key: np.uint64, shares: Floats, concentration: float, drawn: Floats) -> None:
    """Draw shares from the Dirichlet distribution."""
    total = 0.0
    for t in range(len(shares)):
        alpha = concentration * shares[t]
        drawn[t] = _gamma(alpha, key, t) if alpha > 0.0 else 0.0
        total += drawn[t]
    if total <= 0.0:  # all underflow: in the limit one type has all seats
        drawn[_sole_type(shares, uniform(key, 0, SOLE_TYPE))] = total = 1.0
    for t in range(len(shares)):
        drawn[t] /= total


@cached_kernel
def _compose(
    seeds: NDArray[np.uint64],
    shares: Floats,
    concentration: float,
    bidders: Integers,
    kind: NDArray[np.int8],
) -> None:
    """Set the type of each seat of each episode; concentration 0 takes the shares as given."""
    drawn = shares.copy()
    for e in range(len(seeds)):
        if concentration > 0.0:
            _draw_shares(round_key(seeds[e], COMPOSITION_ROUND), shares, concentration, drawn)
        _apportion(drawn, bidders[e], kind[e])


def compose(
    seeds: NDArray[np.uint64],
    shares: NDArray[np.float64],
    concentration: float | None,
    bidders: NDArray[np.int64],
    seats: int,
) -> NDArray[np.int8]:
    """Return the type in each seat, shape (B, n). An episode's types depend on its seed alone.

    Args:
        seeds: Market seeds, shape (B,).
        shares: Relative sizes of the types.
        concentration: Sum of the Dirichlet parameters, or None to take the shares as they are.
        bidders: Number of bidders of each episode, shape (B,). They have the first seats.
        seats: Number of seats n, at least the number of bidders; empty seats hold 0.
    """
    kind = np.zeros((len(seeds), seats), np.int8)
    _compose(seeds, shares / shares.sum(), concentration or 0.0, bidders, kind)
    return kind


@cached_kernel
def _draw_factors(seeds: NDArray[np.uint64], spreads: Floats, trait: int, factors: Floats) -> None:
    """Fill the factors of the bidders' spreads, see ``individual_factors``."""
    for e in range(len(seeds)):
        key = round_key(seeds[e], TRAITS_ROUND)
        for i in range(factors.shape[1]):
            factors[e, i] = spreads[e, i] ** (2.0 * uniform(key, i, trait) - 1.0)


def individual_factors(
    seeds: NDArray[np.uint64], spreads: NDArray[np.float64], trait: int
) -> NDArray[np.float64]:
    """Return the factor by which a trait of each bidder differs from its type, shape (B, n).

    Args:
        seeds: Market seeds, shape (B,). An episode's factors depend on its seed alone.
        spreads: Spread s of each bidder, at least 1, shape (B, n). Factors are log-uniform from
            1/s to s.
        trait: Number of the trait, 0 to 7. Each trait has its own draws.
    """
    factors = np.empty(spreads.shape)
    _draw_factors(seeds, spreads, trait, factors)
    return factors
