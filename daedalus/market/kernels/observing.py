"""Kernels of what an auctioneer sees: statistics of the population."""

from __future__ import annotations

import math

from daedalus.market.compilation import Flags, Floats, Integers, cached_kernel, kernel
from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.measures import evenness


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
def _price_trend(prices: Floats, played: int) -> float:
    """Return the least-squares slope of the last prices by round; 0 with fewer than two.

    ``prices`` is a ring buffer, shape (20,); round r is in slot r mod 20.
    """
    count, covariance = min(played, HISTORY_LENGTH), 0.0
    if count < 2:
        return 0.0
    slot = (played - count) % HISTORY_LENGTH
    for i in range(count):
        covariance += (i - (count - 1) / 2.0) * prices[slot]
        slot = slot + 1 if slot + 1 < HISTORY_LENGTH else 0
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
    prices: Floats,
    proxies: Floats,
) -> None:
    """Fill the proxies of each market, see ``Observation``."""
    for e in range(len(rounds)):
        n = sizes[e]
        absent, winners = _absences(active[e], wins[e], n)
        mean, spread = _bid_moments(bids[e])
        seen = proxies[e]
        seen[0], seen[1], seen[2], seen[3] = n - absent, n, mean, spread
        seen[4] = _bid_correlation(bids[e], previous_bids[e])
        seen[5] = evenness(wins[e], n)
        seen[6], seen[7] = absent / n, winners / n
        seen[8] = _price_trend(prices[e], rounds[e])
        seen[9] = units[e]
