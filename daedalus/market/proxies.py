"""What an auctioneer sees of a batch of markets: statistics of the population."""

from __future__ import annotations

import math

import numpy as np

from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.jit.compilation import (
    Flags,
    Floats,
    Integers,
    Records,
    cached_kernel,
    kernel,
)
from daedalus.market.measures import evenness
from daedalus.market.observation import PROXIES, Observed
from daedalus.market.state import MarketState

_SEEN = np.dtype([(name, np.float64) for name in PROXIES])


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
def _observe_markets(
    sizes: Integers,
    units: Integers,
    rounds: Integers,
    active: Flags,
    bids: Floats,
    previous_bids: Floats,
    wins: Integers,
    prices: Floats,
    proxies: Records,
) -> None:
    """Fill the proxies of each market, see ``Observation``."""
    for e in range(len(rounds)):
        n, seen = sizes[e], proxies[e]
        absent, winners = _absences(active[e], wins[e], n)
        mean, spread, correlation = _bid_statistics(bids[e], previous_bids[e])
        seen.active_count, seen.total_bidders, seen.units = n - absent, n, units[e]
        seen.bid_mean, seen.bid_std, seen.bid_correlation = mean, spread, correlation
        seen.rotation_entropy = evenness(wins[e], n)
        seen.dropout_rate, seen.budget_exhaustion = absent / n, winners / n
        seen.clearing_price_trend = _price_trend(prices[e], rounds[e])


def observe(state: MarketState) -> Observed:
    """Return what an auctioneer computes from bids, absences, deliveries and prices."""
    proxies = np.empty((len(state), len(PROXIES)))
    _observe_markets(
        state.sizes,
        state.units,
        state.rounds,
        state.active,
        state.bids,
        state.previous_bids,
        state.wins,
        state.prices,
        proxies.view(_SEEN)[:, 0],
    )
    return Observed(state.history, proxies)
