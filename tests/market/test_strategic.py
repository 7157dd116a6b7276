"""The strategic market: fresh states, forks, and what it refuses."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import Population
from daedalus.market.state import MarketState
from daedalus.market.strategic import StrategicState
from tests.market.states import arrays, assert_same_state
from tests.market.strategic_markets import COMMON, each_population, fresh, mixed, played


def test_bidders_of_a_type_differ_by_its_spread_and_not_by_more():
    who = mixed("shader", rate_spread=4.0, rivals_spread=100.0, learning_rate=0.2, rivals=10.0)
    _, state = fresh(who, 400)
    rates, rivals = state.bidders["learning_rate"], 1 / state.bidders["rivals_distance"]
    exponents = np.log(rates / 0.2) / np.log(4.0)
    assert exponents.min() == pytest.approx(-1, abs=0.01)
    assert rates.max() == pytest.approx(0.8, abs=0.01)
    assert exponents.mean() == pytest.approx(0, abs=0.04)
    assert exponents.std() == pytest.approx(3**-0.5, abs=0.02)
    assert rivals.min() == pytest.approx(0.1, rel=0.02)
    assert (rivals == 100).mean() == pytest.approx(0.25, abs=0.03)  # the most there is
    assert abs(np.corrcoef(np.log(rates).ravel(), np.log(rivals).ravel())[0, 1]) < 0.05
    quick = dataclasses.replace(who.types["shader"], learning_rate=0.9)
    _, state = fresh(dataclasses.replace(who, types={"shader": quick}), 400)
    assert (state.bidders["learning_rate"] == 1).mean() == pytest.approx(0.46, abs=0.03)


def test_a_fresh_episode_is_before_its_first_round():
    parameters = StrategicParameters(ring_prior=0.5, shill_prior=0.25)
    _, state = fresh(
        mixed("shader", "colluder", "weak", expected_surplus=0.3, rivals=5.0), 3, parameters
    )
    assert isinstance(state, StrategicState)
    assert len(state) == 3
    assert state.active.all()
    assert not state.over.any()
    assert not state.rounds.any()
    assert not state.wins.any()
    assert np.isnan(state.history.rounds()).all()
    assert state.rings.shape == (3, 2)
    assert_array_equal(state.rings["gain"], 0.5)
    assert_array_equal(state.bidders["kind"], np.tile([0, 0, 0, 0, 1, 1, 1, 2, 2, 2], (3, 1)))
    assert_array_equal(state.bidders["expected_surplus"], 0.3)
    assert_array_equal(state.bidders["shill_gain"], 0.25)
    assert_array_equal(state.bidders["rivals_seen"] / state.bidders["rivals_distance"], 5.0)
    assert_array_equal(state.bidders["learning_rate"], 0.05)


@each_population
def test_a_fork_under_the_same_rules_goes_on_like_its_original(who):
    market, state, mechanisms, _ = played(who)
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


def test_put_is_the_inverse_of_fork():
    market, state, mechanisms, _ = played()
    expected = copy.deepcopy(state)
    rows = np.array([7, 2])
    moving = state.fork(rows)
    market.play(moving, mechanisms.take(rows), 4)
    state.put(rows, moving)
    assert_same_state(state.fork(rows), moving)
    others = np.setdiff1d(np.arange(32), rows)
    assert_same_state(state.fork(others), expected.fork(others))


def test_forks_on_one_seed_face_the_same_values_under_other_rules():
    market, state = fresh(Population(), 1)
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
    market, _ = fresh(Population(), 2)
    foreign = MarketState(
        **MarketState.common(np.arange(2, dtype=np.uint64), np.full(2, 8), np.ones(2), 8)
    )
    before = copy.deepcopy(foreign)
    with pytest.raises(ValueError, match="state"):
        market.play(foreign, Mechanisms.repeat(Mechanism(), 2), 1)
    assert_same_state(foreign, before)


def test_a_state_of_more_or_fewer_bidders_is_refused():
    (small, small_state), (large, large_state) = (fresh(Population(bidders=n), 2) for n in (8, 12))
    for market, state in ((small, large_state), (large, small_state)):
        before = copy.deepcopy(state)
        with pytest.raises(ValueError, match="bidders"):
            market.play(state, Mechanisms.repeat(Mechanism(), 2), 1)
        assert_same_state(state, before)


@pytest.mark.parametrize("names", [("truthful",), ("discreet", "weak"), COMMON])
def test_a_state_of_other_types_is_refused(names):
    """It may hold types that this market does not know, more or fewer rings, or other tables."""
    market, _ = fresh(mixed("truthful", "weak"), 2)
    _, state = fresh(mixed(*names), 2)
    before = copy.deepcopy(state)
    with pytest.raises(ValueError, match="state"):
        market.play(state, Mechanisms.repeat(Mechanism(), 2), 1)
    assert_same_state(state, before)
