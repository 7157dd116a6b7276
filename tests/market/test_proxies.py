"""Kernels of what an auctioneer sees: proxies against hand computation."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.market.observation import PROXIES
from daedalus.market.proxies import observe
from daedalus.market.state import MarketState


def fresh() -> MarketState:
    return MarketState(**MarketState.common(np.zeros(1, np.uint64), np.full(1, 4), np.ones(1), 4))


def proxy(state: MarketState, name: str) -> float:
    return float(observe(state).proxies[0, PROXIES.index(name)])


def test_before_the_first_round():
    expected = dict.fromkeys(PROXIES, 0.0) | {"active_count": 4, "total_bidders": 4, "units": 1}
    assert dict(zip(PROXIES, observe(fresh()).proxies[0], strict=True)) == expected


def test_counts_and_shares():
    state = fresh()
    state.active[0] = [True, True, False, False]
    state.wins[0] = [1, 1, 2, 0]
    assert proxy(state, "active_count") == 2
    assert proxy(state, "total_bidders") == 4
    assert proxy(state, "dropout_rate") == 0.5
    assert proxy(state, "budget_exhaustion") == 0.25  # one of four is out and had won
    assert proxy(state, "rotation_entropy") == pytest.approx(0.75)


def test_moments_are_of_positive_bids_only():
    state = fresh()
    state.bids[0] = [0.2, 0.0, 0.6, 0.1]
    assert proxy(state, "bid_mean") == pytest.approx(0.3)
    assert proxy(state, "bid_std") == pytest.approx(np.sqrt((0.01 + 0.09 + 0.04) / 3))


@pytest.mark.parametrize(
    ("now", "then", "expected"),
    [
        ([0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.4, 0.5], 1),
        ([0.1, 0.2, 0.3, 0.4], [0.5, 0.4, 0.3, 0.2], -1),
        ([0.1, 0.2, 0.3, 0.4], [0.5, 0.5, 0.5, 0.5], 0),
        ([0.1, 0.2, 0.4, 0.0], [0.3, 0.2, 0.1, 0.8], -((27 / 28) ** 0.5)),  # of those who bid twice
        ([0.1, 0.2, 0.0, 0.0], [0.5, 0.0, 0.0, 0.5], 0),
        ([0.0, 0.0, 0.0, 0.0], [0.5, 0.4, 0.3, 0.2], 0),
    ],
)
def test_correlation_by_hand(now, then, expected):
    state = fresh()
    state.bids[0], state.previous_bids[0] = now, then
    assert proxy(state, "bid_correlation") == pytest.approx(expected)
