"""The classic market: fresh states, forks, and what it refuses."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.market.classic import ClassicMarket, ClassicState
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import market_seeds
from daedalus.market.state import MarketState
from tests.market.classic_markets import played
from tests.market.states import arrays, assert_same_state
from tests.populations import seat_plan


def test_a_fresh_episode_is_before_its_first_round():
    market = ClassicMarket(seat_plan(4))
    state = market.reset(np.arange(3, dtype=np.uint64))
    assert isinstance(state, ClassicState)
    assert len(state) == 3
    assert state.active.all()
    assert not state.rounds.any()
    assert not state.wins.any()
    assert np.isnan(state.history.rounds()).all()
    assert_array_equal(state.bidders["budget"], np.tile([2.0, 0, 0, 0, 0, 0, 0, 2.5], (3, 1)))
    assert_array_equal(np.flatnonzero(state.bidders["turn"][0]), [5])


def test_a_fork_under_the_same_rules_goes_on_like_its_original():
    market, state, mechanisms, _ = played()
    fork = state.fork(np.arange(32))
    theirs = market.play(fork, mechanisms, 25).records
    ours = market.play(state, mechanisms, 25).records
    assert theirs.tobytes() == ours.tobytes()
    assert_same_state(fork, state)


def test_a_fork_shares_no_memory_with_its_original():
    market, state, mechanisms, _ = played()
    fork = state.fork(np.arange(32), np.arange(32, dtype=np.uint64))
    before = copy.deepcopy(state)
    for name, array in arrays(fork).items():
        assert not np.shares_memory(array, getattr(state, name)), name
    market.play(fork, mechanisms, 25)
    assert_same_state(state, before)
    assert not np.array_equal(fork.rounds, state.rounds)


def test_forks_on_one_seed_face_the_same_values_under_other_rules():
    market = ClassicMarket(seat_plan(0))
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
        assert_array_equal(fork.bidders["value"][1], fork.bidders["value"][0])
        assert_array_equal(fork.bidders["value"][2], fork.bidders["value"][0])


def test_forks_on_other_seeds_face_other_values():
    market, state, _, _ = played(batch=1, stage=0)
    fork = state.fork(np.zeros(3, np.int64), np.array([1, 2, 3], np.uint64))
    market.play(fork, Mechanisms.repeat(Mechanism(), 3), 1)
    assert len(np.unique(fork.bidders["value"])) == fork.bidders["value"].size


@pytest.mark.parametrize(
    ("mechanisms", "rounds", "match"),
    [(3, 5, "mechanisms"), (5, 5, "mechanisms"), (0, 5, "mechanisms"), (4, -1, "rounds")],
)
def test_wrong_sizes_raise_and_change_nothing(mechanisms, rounds, match):
    market, state, _, _ = played(batch=4)
    before = copy.deepcopy(state)
    with pytest.raises(ValueError, match=match):
        market.play(state, Mechanisms.repeat(Mechanism(), mechanisms), rounds)
    assert_same_state(state, before)


def test_a_state_of_other_rules_is_refused():
    market = ClassicMarket(seat_plan(0))
    foreign = MarketState(
        **MarketState.common(np.arange(2, dtype=np.uint64), np.full(2, 8), np.ones(2), 8)
    )
    before = copy.deepcopy(foreign)
    with pytest.raises(ValueError, match="state"):
        market.play(foreign, Mechanisms.repeat(Mechanism(), 2), 1)
    assert_same_state(foreign, before)


def test_a_state_of_more_or_fewer_bidders_is_refused():
    small, large = ClassicMarket(seat_plan(0, 8)), ClassicMarket(seat_plan(0, 12))
    mechanisms = Mechanisms.repeat(Mechanism(), 2)
    # In this order: without a check the second call would write beyond the arrays of the state.
    for market, other in ((small, large), (large, small)):
        state = other.reset(np.arange(2, dtype=np.uint64))
        before = copy.deepcopy(state)
        with pytest.raises(ValueError, match="bidders"):
            market.play(state, mechanisms, 1)
        assert_same_state(state, before)
