"""What both markets keep to: batches, forks, and what they refuse."""

from __future__ import annotations

import copy
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.market.classic import ClassicMarket
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.outcome import ROUND_FIELDS
from daedalus.market.population import Population
from daedalus.market.seeds import market_seeds
from daedalus.market.state import MarketState
from daedalus.market.strategic import StrategicMarket
from tests.market import strategic_markets
from tests.market.states import arrays, assert_refused, assert_same_state, played_classic
from tests.populations import STAGES, seat_plan

PLAYED = {f"stage {stage}": partial(played_classic, stage=stage) for stage in STAGES}
PLAYED |= {
    name: partial(strategic_markets.played, who)
    for name, who in strategic_markets.POPULATIONS.items()
}
each_market = pytest.mark.parametrize("played", PLAYED.values(), ids=PLAYED)
TRUTHFUL = (ClassicMarket(seat_plan(0)), StrategicMarket(Population()))
MARKETS = {
    "classic": [ClassicMarket(seat_plan(0, bidders)) for bidders in (8, 12)],
    "strategic": [StrategicMarket(Population(bidders=bidders)) for bidders in (8, 12)],
}


@each_market
def test_a_fresh_market_is_before_its_first_round(played):
    _, state, _, _ = played(batch=3, rounds=0)
    assert len(state) == 3 and state.active.all() and not state.over.any()
    assert not state.rounds.any() and not state.wins.any()
    assert np.isnan(state.history.rounds()).all()


@each_market
def test_an_episode_is_the_same_alone_and_in_a_batch(played):
    market, state, mechanisms, records = played()
    for row in (0, 13, 31):
        alone = market.reset(state.seeds[row : row + 1])
        outcome = market.play(alone, mechanisms.take(np.array([row])), 30)
        assert outcome.records[0].tobytes() == records[row].tobytes()
        assert_same_state(alone, state.fork(np.array([row])))


@pytest.mark.parametrize("split", [(3, 27), (15, 15), (1,) * 30])
@each_market
def test_one_call_of_many_rounds_is_many_calls_of_fewer(played, split):
    market, state, mechanisms, records = played()
    again = market.reset(state.seeds)
    parts = [market.play(again, mechanisms, rounds).records for rounds in split]
    assert np.concatenate(parts, axis=1).tobytes() == records.tobytes()
    assert_same_state(again, state)


@pytest.mark.parametrize("rounds", [0, 4])
@each_market
def test_no_rounds_change_nothing(played, rounds):
    market, state, mechanisms, _ = played(batch=4, rounds=rounds)
    before = copy.deepcopy(state)
    assert market.play(state, mechanisms, 0).records.shape == (4, 0, len(ROUND_FIELDS))
    assert_same_state(state, before)


@each_market
def test_an_empty_batch_plays(played):
    _, _, _, records = played(batch=0, rounds=5)
    assert records.shape == (0, 5, len(ROUND_FIELDS))


@each_market
def test_a_fork_under_the_same_rules_goes_on_like_its_original(played):
    market, state, mechanisms, _ = played()
    fork = state.fork(np.arange(32))
    theirs = market.play(fork, mechanisms, 25).records
    ours = market.play(state, mechanisms, 25).records
    assert theirs.tobytes() == ours.tobytes()
    assert_same_state(fork, state)


@each_market
def test_a_fork_shares_no_memory_with_its_original(played):
    market, state, mechanisms, _ = played()
    fork = state.fork(np.arange(32), np.arange(32, dtype=np.uint64))
    before = copy.deepcopy(state)
    for name, array in arrays(fork).items():
        assert not np.shares_memory(array, getattr(state, name)), name
    market.play(fork, mechanisms, 25)
    assert_same_state(state, before)
    assert not np.array_equal(fork.rounds, state.rounds)


@each_market
def test_put_is_the_inverse_of_fork(played):
    market, state, mechanisms, _ = played()
    expected = copy.deepcopy(state)
    rows = np.array([7, 2])
    moving = state.fork(rows)
    market.play(moving, mechanisms.take(rows), 4)
    state.put(rows, moving)
    assert_same_state(state.fork(rows), moving)
    others = np.setdiff1d(np.arange(32), rows)
    assert_same_state(state.fork(others), expected.fork(others))


@pytest.mark.parametrize("market", TRUTHFUL, ids=["classic", "strategic"])
def test_forks_on_one_seed_face_the_same_values_under_other_rules(market):
    state = market.reset(market_seeds(1, "fork", 1))
    market.play(state, Mechanisms.repeat(Mechanism(), 1), 3)
    mechanisms = [
        Mechanism(reserve_price=0.9, auction_type="first_price"),
        Mechanism(reserve_price=0.0),
        Mechanism(coalition_policy="restrict", collusion_penalty=3.0),
    ]
    fork = state.fork(np.zeros(3, np.int64), np.full(3, 11, np.uint64))
    for _ in range(10):
        market.play(fork, Mechanisms.stack(mechanisms), 1)
        assert_array_equal(fork.bids[1], fork.bids[0])  # the truthful bid their values
        assert_array_equal(fork.bids[2], fork.bids[0])


@pytest.mark.parametrize("market", TRUTHFUL, ids=["classic", "strategic"])
def test_forks_on_other_seeds_face_other_values(market):
    state = market.reset(market_seeds(1, "fork", 1))
    fork = state.fork(np.zeros(3, np.int64), np.array([1, 2, 3], np.uint64))
    market.play(fork, Mechanisms.repeat(Mechanism(), 3), 1)
    assert len(np.unique(fork.bids)) == fork.bids.size  # the truthful bid their values


# ------------------------------------------------------------------------------ what is refused


@pytest.mark.parametrize(
    ("mechanisms", "rounds", "match"),
    [(3, 5, "mechanisms"), (5, 5, "mechanisms"), (0, 5, "mechanisms"), (4, -1, "rounds")],
)
@pytest.mark.parametrize("markets", MARKETS.values(), ids=MARKETS)
def test_wrong_sizes_raise_and_change_nothing(markets, mechanisms, rounds, match):
    state = markets[0].reset(np.arange(4, dtype=np.uint64))
    assert_refused(markets[0], state, mechanisms, rounds, match)


@pytest.mark.parametrize("markets", MARKETS.values(), ids=MARKETS)
def test_a_state_of_other_rules_is_refused(markets):
    common = MarketState.common(np.arange(2, dtype=np.uint64), np.full(2, 8), np.ones(2), 8)
    assert_refused(markets[0], MarketState(**common), 2, 1, "state")


@pytest.mark.parametrize("markets", MARKETS.values(), ids=MARKETS)
def test_a_state_of_more_or_fewer_bidders_is_refused(markets):
    # In this order: without a check the second call would write beyond the arrays of the state.
    for market, other in (markets, markets[::-1]):
        assert_refused(market, other.reset(np.arange(2, dtype=np.uint64)), 2, 1, "bidders")


def test_fork_seeds_are_copied():
    seeds = np.arange(4, dtype=np.uint64)
    _, state, _, _ = played_classic(batch=4)
    fork = state.fork(np.arange(4), seeds)
    seeds[:] = 99
    assert_array_equal(fork.seeds, np.arange(4))


def test_fork_refuses_another_number_of_seeds():
    _, state, _, _ = played_classic(batch=4)
    with pytest.raises(ValueError, match="seeds"):
        state.fork(np.arange(4), np.arange(3, dtype=np.uint64))
