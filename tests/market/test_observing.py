"""Proxies and recent rounds against hand computation, and what a designer cannot see."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.env import DesignEnv
from daedalus.market.classic import ClassicMarket
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observing import observe
from daedalus.market.outcome import HISTORY_LENGTH, PROXIES, ROUND_FIELDS
from daedalus.market.seat_plan import BidderGroup, SeatPlan
from daedalus.market.seeds import market_seeds
from daedalus.market.state import MarketState
from tests.populations import draw_mechanisms, seat_plan

PRICE = ROUND_FIELDS.index("clearing_price")
HIDDEN = ("values", "surplus", "budget", "disappointment", "turn")


def fresh(bidders: int = 4) -> MarketState:
    return MarketState(**MarketState.common(np.zeros(1, np.uint64), bidders))


def proxy(state: MarketState, name: str) -> float:
    return float(observe(state).proxies[0, PROXIES.index(name)])


def with_prices(prices: list[float]) -> MarketState:
    state = fresh()
    for price in prices:
        state.history[0, state.rounds[0] % HISTORY_LENGTH] = 0.5
        state.history[0, state.rounds[0] % HISTORY_LENGTH, PRICE] = price
        state.rounds += 1
    return state


def test_before_the_first_round():
    expected = dict.fromkeys(PROXIES, 0.0) | {"active_count": 4, "total_bidders": 4}
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


def test_markets_do_not_mix():
    market = ClassicMarket(seat_plan(4))
    state = market.reset(market_seeds(0, "mix", 20))
    market.play(state, draw_mechanisms(20, np.random.default_rng(0)), 33)
    together = observe(state).proxies
    for row in range(20):
        alone = observe(state.fork(np.array([row]))).proxies[0]
        assert_allclose(together[row], alone, rtol=0, atol=1e-12)
    assert np.isfinite(together).all()


# ------------------------------------------------------------------------------ what is hidden


def observed(env: DesignEnv) -> bytes:
    seen = env.observe()
    return seen.recent.tobytes() + seen.proxies.tobytes() + seen.round_number.tobytes()


def episodes(who: SeatPlan, seed: int = 0) -> DesignEnv:
    env = DesignEnv(ClassicMarket(who), MarketSettings())
    env.reset(market_seeds(seed, "hidden", 40))
    return env


@pytest.mark.parametrize("name", HIDDEN)
def test_no_observation_reads_hidden_state(name):
    env = episodes(seat_plan(4))
    env.step(draw_mechanisms(40, np.random.default_rng(0)))
    before = observed(env)
    hidden = getattr(env.state, name)
    if hidden.dtype == np.bool_:
        hidden ^= True
    else:
        hidden += 0.37
    assert observed(env) == before


def test_all_of_the_state_is_either_public_or_hidden():
    """A new array must be sorted into one or the other here."""
    state = episodes(seat_plan(4)).state
    public = {f.name for f in dataclasses.fields(MarketState)}
    assert {f.name for f in dataclasses.fields(state)} == public | set(HIDDEN)


def test_proxies_need_no_more_than_bids_exits_wins_and_prices():
    env = episodes(seat_plan(4))
    env.step(draw_mechanisms(40, np.random.default_rng(0)))
    state = env.state
    bare = MarketState(**MarketState.common(np.zeros(40, np.uint64), 8))
    for name in ("active", "bids", "previous_bids", "wins", "rounds"):
        setattr(bare, name, getattr(state, name))
    bare.history[:, :, PRICE] = state.history[:, :, PRICE]
    assert observe(bare).proxies.tobytes() == observe(state).proxies.tobytes()


def test_a_seed_is_no_part_of_an_observation():
    env = episodes(seat_plan(4))
    before = observed(env)
    env.state.seeds += np.uint64(1)
    assert observed(env) == before


def test_budgets_show_only_once_they_change_bids():
    """No bid depends on whether an exploiter holds 100 or 200, so nor may an observation."""
    seen = []
    for budget in (100.0, 200.0, 1.0):
        exploiter = BidderGroup("exploiter", [2], 0.2, 0.6, budget=budget)
        env = episodes(SeatPlan(4, 8, {"truthful": BidderGroup(), "rich": exploiter}))
        for _ in range(4):
            env.step(Mechanisms.repeat(Mechanism(), 40))
        seen.append(observed(env))
    assert seen[0] == seen[1]
    assert seen[0] != seen[2]


def test_disappointment_shows_only_in_exits():
    env = episodes(seat_plan(2))
    fork = env.fork(np.arange(40))
    fork.state.disappointment += 1.0  # so content that they do not leave any earlier
    mechanisms = Mechanisms.repeat(Mechanism(reserve_price=0.0), 40)
    stayed = np.ones(40, np.bool_)
    for _ in range(4):
        ours, theirs = env.step(mechanisms).observation, fork.step(mechanisms).observation
        stayed &= (ours.field("dropouts")[:, -5:] == 0).all(axis=1)
        assert_array_equal(ours.recent[stayed], theirs.recent[stayed])
        assert_array_equal(ours.proxies[stayed], theirs.proxies[stayed])
    assert stayed.any()
