"""What mechanisms would earn from a state: exact, in shared futures, and nothing moves."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.design.search import lookahead
from daedalus.design.search.forks import fork_rewards, steps_left
from daedalus.design.search.lookahead import LookAhead
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import market_seeds
from tests.design.search.markets import HIGH_AND_LOW, mixed_env

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
    np.testing.assert_allclose(twice, np.concatenate(rounds, 1)[:, :, 7].mean(axis=1), rtol=1e-12)
    assert episode.step(THREE.take(np.array([1]))).reward[0] == told[1]  # nothing has moved


def test_futures_are_shared_and_those_of_look_ahead() -> None:
    episode = started()
    told = fork_rewards(episode, THREE, futures=5, horizon=2, seed=7)
    compared = LookAhead(5, seed=7).compare(episode, THREE, 2, "fork")[0]
    np.testing.assert_array_equal(told, compared)
    pair = Mechanisms.repeat(Mechanism("vcg"), 2)
    assert len(set(fork_rewards(episode, pair, futures=3))) == 1
    assert (fork_rewards(episode, THREE, seed=1) != fork_rewards(episode, THREE, seed=2)).any()
    low = fork_rewards(episode, HIGH_AND_LOW)
    assert low[0] < low[1]


@pytest.mark.parametrize("futures", [0, 5])
def test_many_futures_are_played_in_parts(futures: int, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = fork_rewards(started(), THREE, futures, horizon=2)
    monkeypatch.setattr(lookahead, "_CHUNK", 2)
    np.testing.assert_array_equal(fork_rewards(started(), THREE, futures, horizon=2), at_once)


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
