"""Proxies: statistics of the population, which an auctioneer computes from bids and prices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daedalus.market.outcome import ROUND_FIELDS
from daedalus.market.state import MarketState


def population_proxies(state: MarketState) -> NDArray[np.float64]:
    """Return the nine proxies of ``Observation``, shape (B, 9)."""
    bidders = state.active.shape[1]
    bid_mean, bid_std = _moments(state.bids, state.bids > 0)
    prices = state.recent()[:, :, ROUND_FIELDS.index("clearing_price")]
    return np.stack(
        [
            state.active.sum(axis=1),
            np.full(len(state), bidders),
            bid_mean,
            bid_std,
            _bid_correlation(state.bids, state.previous_bids),
            win_entropy(state.wins),
            (~state.active).mean(axis=1),
            (~state.active & (state.wins > 0)).mean(axis=1),
            _trend(prices),
        ],
        axis=1,
    ).astype(np.float64)


def win_entropy(wins: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the entropy of win counts (B, n) over its maximum log n, shape (B,), in [0, 1]."""
    shares = wins / np.maximum(wins.sum(axis=1, keepdims=True), 1)
    logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
    entropy = -(shares * logs).sum(axis=1) / np.log(wins.shape[1])
    return np.asarray(np.clip(entropy, 0.0, 1.0), dtype=np.float64)


def _moments(
    values: NDArray[np.float64], mask: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and population standard deviation of the masked values; 0 if there are none."""
    count = np.maximum(mask.sum(axis=1), 1)
    mean = np.where(mask, values, 0.0).sum(axis=1) / count
    squares = np.where(mask, (values - mean[:, None]) ** 2, 0.0).sum(axis=1) / count
    return mean, np.sqrt(squares)


def _bid_correlation(
    bids: NDArray[np.float64], previous: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return Pearson's correlation over bidders who bid in both rounds; 0 if undefined."""
    mask = (bids > 0) & (previous > 0)
    mean_now, std_now = _moments(bids, mask)
    mean_then, std_then = _moments(previous, mask)
    product = (bids - mean_now[:, None]) * (previous - mean_then[:, None])
    covariance = np.where(mask, product, 0.0).sum(axis=1) / np.maximum(mask.sum(axis=1), 1)
    scale = std_now * std_then
    defined = scale > 1e-12
    correlation = np.divide(covariance, scale, out=np.zeros_like(scale), where=defined)
    return np.asarray(np.clip(correlation, -1.0, 1.0), dtype=np.float64)


def _trend(prices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least-squares slope over rounds of the known prices; 0 with fewer than two."""
    known = np.isfinite(prices)
    rounds = np.broadcast_to(np.arange(prices.shape[1], dtype=np.float64), prices.shape)
    filled = np.where(known, prices, 0.0)
    mean_round, std_round = _moments(rounds, known)
    mean_price, _ = _moments(filled, known)
    product = (rounds - mean_round[:, None]) * (filled - mean_price[:, None])
    covariance = np.where(known, product, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    variance = std_round**2
    slope = np.zeros(len(prices))
    np.divide(covariance, variance, out=slope, where=variance > 0)
    return slope
