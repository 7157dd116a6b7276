"""Look-ahead: mechanisms share the futures of the true state, and earn the given reward there."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.designers.random import RandomDesigner
from daedalus.design.env import Episodes
from daedalus.design.rewards.terms import mean_over_rounds
from daedalus.design.search import lookahead as module
from daedalus.design.search.lookahead import (
    ContinuationPolicy,
    LookAhead,
    fork_rewards,
    play_futures,
    steps_left,
)
from daedalus.design.search.space import random_mechanisms
from daedalus.design.search.states import mid_episode_states
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import generator, market_seeds
from tests.design.search.markets import (
    COMPOSITE,
    HIGH_AND_LOW,
    PUBLISHED,
    mixed_env,
    play_steps,
    published_reward,
    rewarded,
)


def states(count: int = 6, horizon: int = 2) -> Episodes:
    return mid_episode_states(mixed_env(concentration=1.0), count, 0, "x", horizon)


def test_a_candidate_earns_what_stepping_a_fork_gives() -> None:
    paused = states()
    candidates = random_mechanisms(6, generator(0, "rules"))
    seeds = market_seeds(1, "futures", 6).reshape(6, 1)
    expected, published = np.zeros(6), np.zeros(6)
    for row in range(6):
        fork = paused.fork(np.array([row]), seeds[row])
        rewards = [fork.step(candidates.take(np.array([row]))).reward[0] for _ in range(2)]
        expected[row] = np.mean(rewards)
        fork = paused.fork(np.array([row]), seeds[row])
        steps = play_steps(fork, candidates[row], 2)
        published[row] = np.mean([published_reward(each) for each in steps])
    for stack, wanted in ((COMPOSITE, expected), (PUBLISHED, published)):
        states_of = rewarded(paused, stack)
        given = LookAhead(1, 0).expected_rewards(states_of, np.arange(6), candidates, seeds, 2)
        assert_allclose(given, wanted)


def test_candidates_face_the_same_futures_and_another_purpose_others() -> None:
    paused, look_ahead = states(), LookAhead(3, 0)
    twice = Mechanisms.repeat(Mechanism(), 2)
    rewards = look_ahead.compare(paused, twice, 2, "x")
    assert rewards.shape == (6, 2)
    assert_array_equal(rewards[:, 0], rewards[:, 1])
    assert (rewards != look_ahead.compare(paused, twice, 2, "y")).any()


@pytest.mark.parametrize("chunk", [8, 32_768])
def test_the_continuation_policy_acts_after_the_commitment_steps(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CHUNK", chunk)
    paused = states(horizon=1)
    candidates, later = random_mechanisms(3, generator(0, "rules")), Mechanism(reserve_price=0.1)
    continuation = ContinuationPolicy(FixedDesigner(later), 2)
    seeds = market_seeds(0, "x/futures", 6 * 2).reshape(6, 2)
    expected, published = np.zeros((6, 3, 2)), np.zeros((6, 3, 2))
    for row, number, future in np.ndindex(expected.shape):
        fork = paused.fork(np.array([row]), seeds[row, [future]])
        for step in range(4 - int(paused.steps[row])):
            now = candidates[number] if step < 2 else later
            result = fork.step(Mechanisms.repeat(now, 1))
            expected[row, number, future] += result.reward[0]
            published[row, number, future] += published_reward(result.scored)[0]
    assert len(np.unique(paused.steps)) > 1
    for stack, wanted in ((COMPOSITE, expected), (PUBLISHED, published)):
        states_of, look_ahead = rewarded(paused, stack), LookAhead(2, 0)
        worth = look_ahead.compare_continued(states_of, candidates, continuation, "x")
        assert_allclose(worth, wanted.mean(axis=2))


def test_a_continuation_policy_draws_by_the_seeds_of_the_futures() -> None:
    paused, mechanisms = states(), Mechanisms.repeat(Mechanism(), 6)
    continuation = ContinuationPolicy(RandomDesigner(), commitment_steps=1)
    scores = []
    for seed in (1, 1, 2):
        seeds = market_seeds(seed, "futures", 12).reshape(6, 2)
        played = play_futures(paused, np.arange(6), mechanisms, seeds, 2, continuation)
        scores.append(mean_over_rounds("composite", played))
    assert_array_equal(scores[0], scores[1])
    assert (scores[0] != scores[2]).any()


THREE = Mechanisms.stack([Mechanism(), Mechanism("vcg", 0.3), Mechanism("first_price", 0.2)])


def started(steps: int = 1, count: int = 1):
    episodes = mixed_env().reset(market_seeds(3, "x", count))
    for _ in range(steps):
        episodes.step(Mechanisms.repeat(Mechanism(), count))
    return episodes


def test_the_own_future_is_what_a_step_earns() -> None:
    episode = started()
    before = episode.fork(np.arange(1))
    told = fork_rewards(episode, THREE, futures=0)
    for row in range(3):
        played = before.fork(np.arange(1)).step(THREE.take(np.array([row]))).reward[0]
        assert told[row] == played
    assert len(set(told)) == 3
    twice = fork_rewards(episode, THREE, futures=0, horizon=2)
    copies = before.fork(np.zeros(3, np.int64))
    rounds = [copies.step(THREE).scored.records for _ in range(2)]
    assert_allclose(twice, np.concatenate(rounds, 1)[:, :, 7].mean(axis=1), rtol=1e-12)
    assert episode.step(THREE.take(np.array([1]))).reward[0] == told[1]  # nothing has moved


def test_futures_are_shared_and_those_of_look_ahead() -> None:
    episode = started()
    told = fork_rewards(episode, THREE, futures=5, horizon=2, seed=7)
    compared = LookAhead(5, seed=7).compare(episode, THREE, 2, "fork")[0]
    assert_array_equal(told, compared)
    pair = Mechanisms.repeat(Mechanism("vcg"), 2)
    assert len(set(fork_rewards(episode, pair, futures=3))) == 1
    assert (fork_rewards(episode, THREE, seed=1) != fork_rewards(episode, THREE, seed=2)).any()
    low = fork_rewards(episode, HIGH_AND_LOW)
    assert low[0] < low[1]


def test_many_futures_are_played_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = fork_rewards(started(), THREE, futures=5, horizon=2)
    monkeypatch.setattr(module, "_CHUNK", 2)
    assert_array_equal(fork_rewards(started(), THREE, futures=5, horizon=2), at_once)


def test_a_malformed_mechanism_earns_nothing() -> None:
    for futures in (0, 2):
        told = fork_rewards(started(), Mechanisms.stack([None, Mechanism()]), futures)
        assert told[0] == 0.0 < told[1]


def test_what_cannot_be_played_is_refused() -> None:
    episode = started(steps=3)
    assert steps_left(episode) == 1
    for changes, words in (
        ({"horizon": 2}, "horizon: 2; give 1 to 1, the steps that are left"),
        ({"horizon": 0}, "horizon: 0; give 1 to 1"),
        ({"futures": -1}, "futures: -1; give 0"),
    ):
        with pytest.raises(ValueError, match=words):
            fork_rewards(episode, THREE, **changes)
    with pytest.raises(ValueError, match="mechanisms: none"):
        fork_rewards(episode, Mechanisms.stack([]))
    with pytest.raises(ValueError, match="episode: 2 episodes"):
        fork_rewards(started(count=2), THREE)
    episode.step(Mechanisms.repeat(Mechanism(), 1))
    assert steps_left(episode) == 0
    with pytest.raises(ValueError, match="has ended"):
        fork_rewards(episode, THREE)
