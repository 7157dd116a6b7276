"""Kernels of what an auctioneer sees: the last rounds, and statistics of the population."""

from __future__ import annotations

import math

import numpy as np

from daedalus.market.compilation import Flags, Floats, Integers, cached_kernel, kernel
from daedalus.market.measures import evenness
from daedalus.market.outcome import HISTORY_LENGTH, PRICE, ROUND_FIELDS


@kernel
def _unroll(history: Floats, oldest: int, recent: Floats) -> None:
    """Copy a ring buffer that begins at ``oldest``; both arrays are flat, to be copied fast."""
    first = np.uint64(oldest)  # without a sign an index takes no check
    newer = np.uint64(len(history)) - first
    for i in range(newer):
        recent[i] = history[first + i]
    for i in range(first):
        recent[newer + i] = history[i]


@kernel
def _absences(active: Flags, wins: Integers, n: int) -> tuple[int, int]:
    """Return how many of the n bidders are absent, and how many of these have won."""
    absent, winners = 0, 0
    for i in range(n):
        absent += not active[i]
        winners += not active[i] and wins[i] > 0
    return absent, winners


@kernel
def _bid_moments(bids: Floats) -> tuple[float, float]:
    """Return mean and standard deviation of the positive bids; 0 if there are none."""
    count, total, squares = 0, 0.0, 0.0
    for bid in bids:
        count += bid > 0.0
        total += bid
    mean = total / max(count, 1)
    for bid in bids:
        squares += (bid > 0.0) * (bid - mean) ** 2
    return mean, math.sqrt(squares / max(count, 1))


@kernel
def _bid_correlation(bids: Floats, previous: Floats) -> float:
    """Return Pearson's correlation over bidders who bid in both rounds; 0 if undefined."""
    count, now, then = 0, 0.0, 0.0
    for i in range(len(bids)):
        twice = bids[i] > 0.0 and previous[i] > 0.0
        count += twice
        now += twice * bids[i]
        then += twice * previous[i]
    mean_now, mean_then = now / max(count, 1), then / max(count, 1)
    both, squares_now, squares_then = 0.0, 0.0, 0.0
    for i in range(len(bids)):
        twice = bids[i] > 0.0 and previous[i] > 0.0
        off_now, off_then = twice * (bids[i] - mean_now), twice * (previous[i] - mean_then)
        both += off_now * off_then
        squares_now += off_now * off_now
        squares_then += off_then * off_then
    scale = math.sqrt(squares_now) * math.sqrt(squares_then)
    return max(-1.0, min(both / scale, 1.0)) if scale > 1e-12 * count else 0.0


@kernel
def _price_trend(prices: Floats) -> float:
    """Return the least-squares slope of prices by round; 0 with fewer than two."""
    count, covariance = len(prices), 0.0
    if count < 2:
        return 0.0
    for i in range(count):
        covariance += (i - (count - 1) / 2.0) * prices[i]
    return covariance * 12.0 / (count * (count * count - 1))


@cached_kernel
def observe_markets(
    sizes: Integers,
    units: Integers,
    rounds: Integers,
    active: Flags,
    bids: Floats,
    previous_bids: Floats,
    wins: Integers,
    history: Floats,
    recent: Floats,
    proxies: Floats,
) -> None:
    """Fill the last rounds and the proxies of each market, see ``Observation``.

    The rounds of a market are one row, in ``history`` and in ``recent``.
    """
    fields = len(ROUND_FIELDS)
    for e in range(len(rounds)):
        n = sizes[e]
        _unroll(history[e], rounds[e] % HISTORY_LENGTH * fields, recent[e])
        known = min(rounds[e], HISTORY_LENGTH)
        absent, winners = _absences(active[e], wins[e], n)
        mean, spread = _bid_moments(bids[e])
        seen = proxies[e]
        seen[0], seen[1], seen[2], seen[3] = n - absent, n, mean, spread
        seen[4] = _bid_correlation(bids[e], previous_bids[e])
        seen[5] = evenness(wins[e], n)
        seen[6], seen[7] = absent / n, winners / n
        seen[9] = units[e]
        seen[8] = _price_trend(recent[e, (HISTORY_LENGTH - known) * fields + PRICE :: fields])
