"""Kernels of what an auctioneer sees: statistics of the population."""

from __future__ import annotations

import math

from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.jit.compilation import Flags, Floats, Integers, cached_kernel, kernel
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
def _bid_statistics(bids: Floats, previous: Floats) -> tuple[float, float, float]:
    """Return mean, standard deviation and correlation of the bids.

    Mean and standard deviation are those of the last round's positive bids, and 0 if there are
    none. Pearson's correlation is over the bidders who bid in both rounds, and 0 if undefined. Two
    loops for all three are faster than two for each.
    """
    bidding, total, both, now, then = 0, 0.0, 0, 0.0, 0.0
    for i in range(len(bids)):
        twice = bids[i] > 0.0 and previous[i] > 0.0
        bidding += bids[i] > 0.0
        total += bids[i]
        both += twice
        now += twice * bids[i]
        then += twice * previous[i]
    mean = total / max(bidding, 1)
    mean_now, mean_then = now / max(both, 1), then / max(both, 1)
    squares, products, squares_now, squares_then = 0.0, 0.0, 0.0, 0.0
    for i in range(len(bids)):
        twice = bids[i] > 0.0 and previous[i] > 0.0
        off_now, off_then = twice * (bids[i] - mean_now), twice * (previous[i] - mean_then)
        squares += (bids[i] > 0.0) * (bids[i] - mean) ** 2
        products += off_now * off_then
        squares_now += off_now * off_now
        squares_then += off_then * off_then
    scale = math.sqrt(squares_now) * math.sqrt(squares_then)
    correlation = max(-1.0, min(products / scale, 1.0)) if scale > 1e-12 * both else 0.0
    return mean, math.sqrt(squares / max(bidding, 1)), correlation


@kernel
def _price_trend(prices: Floats, played: int) -> float:
    """Return the least-squares slope of the last prices by round; 0 with fewer than two.

    ``prices`` is a ring buffer, shape (20,); round r is in slot r mod 20.
    """
    count, covariance = min(played, HISTORY_LENGTH), 0.0
    if count < 2:
        return 0.0
    middle, oldest = (count - 1) / 2.0, (played - count) % HISTORY_LENGTH
    before_end = min(count, HISTORY_LENGTH - oldest)
    for i in range(before_end):
        covariance += (i - middle) * prices[oldest + i]
    for i in range(before_end, count):
        covariance += (i - middle) * prices[oldest + i - HISTORY_LENGTH]
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
        mean, spread, correlation = _bid_statistics(bids[e], previous_bids[e])
        seen = proxies[e]
        seen[0], seen[1], seen[2], seen[3] = n - absent, n, mean, spread
        seen[4], seen[5] = correlation, evenness(wins[e], n)
        seen[6], seen[7] = absent / n, winners / n
        seen[8] = _price_trend(prices[e], rounds[e])
        seen[9] = units[e]
