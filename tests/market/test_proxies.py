"""Kernels of what an auctioneer sees: proxies against hand computation."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.observation import PROXIES
from daedalus.market.proxies import observe
from daedalus.market.state import MarketState


def fresh(bidders: int = 4) -> MarketState:
    return MarketState(
        **MarketState.common(np.zeros(1, np.uint64), np.array([bidders]), np.ones(1), bidders)
    )


def proxy(state: MarketState, name: str) -> float:
    return float(observe(state).proxies[0, PROXIES.index(name)])


def with_prices(prices: list[float]) -> MarketState:
    state = fresh()
    for price in prices:
        state.prices[0, state.rounds[0] % HISTORY_LENGTH] = price
        state.rounds += 1
    return state


def test_before_the_first_round():
    expected = dict.fromkeys(PROXIES, 0.0) | {"active_count": 4, "total_bidders": 4, "units": 1}
    assert dict(zip(PROXIES, observe(fresh()).proxies[0], strict=True)) == expected


def test_counts_and_shares():
    state = fresh()
    state.active[0] = [True, False, False, False]
    state.wins[0] = [0, 2, 1, 0]
    assert proxy(state, "active_count") == 1
    assert proxy(state, "total_bidders") == 4
    assert proxy(state, "dropout_rate") == 0.75
    assert proxy(state, "budget_exhaustion") == 0.5  # two of four are out and had won


def test_moments_are_of_positive_bids_only():
    state = fresh()
    state.bids[0] = [0.2, 0.0, 0.6, 0.1]
    assert proxy(state, "bid_mean") == pytest.approx(0.3)
    assert proxy(state, "bid_std") == pytest.approx(np.sqrt((0.01 + 0.09 + 0.04) / 3))


def test_correlation_is_of_bidders_who_bid_twice():
    state = fresh(5)
    state.bids[0] = [0.1, 0.2, 0.4, 0.0, 0.9]
    state.previous_bids[0] = [0.3, 0.2, 0.1, 0.8, 0.0]
    expected = np.corrcoef([0.1, 0.2, 0.4], [0.3, 0.2, 0.1])[0, 1]
    assert proxy(state, "bid_correlation") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("now", "then", "expected"),
    [
        ([0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.4, 0.5], 1),
        ([0.1, 0.2, 0.3, 0.4], [0.5, 0.4, 0.3, 0.2], -1),
        ([0.1, 0.2, 0.3, 0.4], [0.5, 0.5, 0.5, 0.5], 0),
        ([0.1, 0.2, 0.0, 0.0], [0.5, 0.0, 0.0, 0.5], 0),
        ([0.0, 0.0, 0.0, 0.0], [0.5, 0.4, 0.3, 0.2], 0),
    ],
)
def test_correlation_where_it_is_perfect_or_undefined(now, then, expected):
    state = fresh()
    state.bids[0], state.previous_bids[0] = now, then
    assert proxy(state, "bid_correlation") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("wins", "expected"),
    [
        ([0, 0, 0, 0], 0),
        ([10, 0, 0, 0], 0),
        ([3, 3, 3, 3], 1),
        ([2, 2, 0, 0], 0.5),
        ([1, 1, 2, 0], 0.75),
    ],
)
def test_entropy_of_wins(wins, expected):
    state = fresh()
    state.wins[0] = wins
    assert proxy(state, "rotation_entropy") == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("length", [2, 3, 19, 20, 27, 45])
def test_trend_is_the_least_squares_slope_of_the_last_twenty_prices(length):
    prices = np.random.default_rng(length).uniform(0, 1, length)
    known = prices[-HISTORY_LENGTH:]
    expected = np.polyfit(np.arange(len(known)), known, 1)[0]
    assert proxy(with_prices(prices), "clearing_price_trend") == pytest.approx(expected)


@pytest.mark.parametrize("prices", [[], [0.4], [0.4] * 30])
def test_trend_is_flat_without_change(prices):
    assert proxy(with_prices(prices), "clearing_price_trend") == pytest.approx(0, abs=1e-15)
