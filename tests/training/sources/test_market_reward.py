"""The training reward: the very market, shared futures, and nothing for nonsense."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv, Episodes
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.lookahead import ContinuationPolicy
from daedalus.design.search.space import random_mechanisms
from daedalus.design.search.states import mid_episode_states
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism, parse_mechanism
from daedalus.market.seeds import market_seeds
from daedalus.training.sources.market_reward import MarketReward
from tests.design.search.markets import rewarded

GOOD = format_mechanism(Mechanism(coalition_policy="penalize_suspected"))
BAD = format_mechanism(Mechanism(reserve_price=0.9))
NONSENSE = "a fine market"


@pytest.fixture
def states(env: DesignEnv) -> Episodes:
    return mid_episode_states(env, 16, seed=0, purpose="x", horizon=2)


def test_a_reward_depends_on_the_completion_and_its_state_alone(states: Episodes) -> None:
    reward = MarketReward(states, futures=8, horizon=1, seed=0)
    totals, _ = reward.score([GOOD, BAD, GOOD, GOOD, NONSENSE], [3, 3, 3, 5, 1], training_step=7)
    assert totals[0] == totals[2] == reward.score([GOOD], [3], training_step=7)[0]
    assert totals[0] != totals[3]  # another state
    assert totals[0] > totals[1] > totals[4] == 0.0


def test_futures_change_with_the_step_and_the_seed(states: Episodes) -> None:
    reward = MarketReward(states, futures=8, horizon=1, seed=0)
    other = MarketReward(states, futures=8, horizon=1, seed=1)
    first = reward.score([GOOD], [3], training_step=1)[0]
    assert first == reward.score([GOOD], [3], training_step=1)[0]
    assert first != reward.score([GOOD], [3], training_step=2)[0]
    assert first != other.score([GOOD], [3], training_step=1)[0]


@pytest.mark.parametrize("horizon", [1, 2])
def test_reward_is_the_mean_over_forks_of_the_state(states: Episodes, horizon: int) -> None:
    reward = MarketReward(states, futures=4, horizon=horizon, seed=0)
    totals, terms = reward.score([GOOD], [3], training_step=5)
    forked = states.fork(np.full(4, 3), market_seeds(0, "futures", 4, 5, 3))
    mechanisms = Mechanisms.repeat(Mechanism(coalition_policy="penalize_suspected"), 4)
    expected = np.mean([forked.step(mechanisms).reward for _ in range(horizon)])
    assert totals[0] == pytest.approx(expected, abs=1e-12)
    assert terms["validity"][0] == 1.0


def test_the_continuation_policy_acts_after_the_commitment_steps(states: Episodes) -> None:
    later = FixedDesigner(Mechanism(auction_type="vcg"))
    continuation = ContinuationPolicy(later, commitment_steps=1)
    reward = MarketReward(states, 4, horizon=2, seed=0, continuation=continuation)
    totals, _ = reward.score([BAD, NONSENSE, GOOD], [3, 3, 5], training_step=5)
    forked = states.fork(np.full(4, 3), market_seeds(0, "futures", 4, 5, 3))
    mechanisms = [Mechanism(reserve_price=0.9), Mechanism(auction_type="vcg")]
    expected = [forked.step(Mechanisms.repeat(each, 4)).reward for each in mechanisms]
    assert totals[0] == pytest.approx(np.mean(expected), abs=1e-12)
    assert totals[1] == 0.0


def test_scoring_leaves_the_states_alone(states: Episodes) -> None:
    before = states.fork(np.arange(16))
    MarketReward(states, 8, 2, 0).score([GOOD, BAD], [0, 1], training_step=0)
    np.testing.assert_array_equal(before.state.history.rounds(), states.state.history.rounds())
    np.testing.assert_array_equal(before.steps, states.steps)


def test_stack_is_bounded_and_format_pays_only_when_valid(states: Episodes) -> None:
    stack = RewardStack({"format": 1.0, "welfare": 1.0, "fairness": 1.0, "composite": 1.0})
    totals, terms = MarketReward(rewarded(states, stack), 8, 1, 0).score(
        [GOOD, NONSENSE, GOOD[:-1], GOOD + "}"], [0, 0, 0, 0], training_step=0
    )
    assert terms["format"].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert 1.0 < totals[0] <= 4.0
    assert totals[1:].tolist() == [0.0, 0.0, 0.0]


def test_nothing_valid_is_scored_too(states: Episodes) -> None:
    totals, _ = MarketReward(states, 8, 1, 0).score([NONSENSE] * 2, [0, 1], training_step=0)
    assert totals.tolist() == [0.0, 0.0]


def test_mechanisms_earn_what_their_texts_do(states: Episodes) -> None:
    stack = RewardStack({"format": 0.5, "schema": 0.1, "welfare": 1.0, "revenue": 0.3})
    reward = MarketReward(rewarded(states, stack), 8, 2, 0)
    mechanisms, rows = random_mechanisms(4, np.random.default_rng(0)), [3, 3, 5, 0]
    texts = [format_mechanism(mechanisms[row]) for row in range(4)]
    earned = reward.score_mechanisms(mechanisms, rows, training_step=7)
    assert earned.tolist() == reward.score(texts, rows, training_step=7)[0].tolist()


def test_trl_function_logs_the_spread_within_groups(states: Episodes) -> None:
    reward = MarketReward(states, 8, 1, 0)
    logged: dict[str, float] = {}
    state = type("State", (), {"global_step": 4})()
    chats = [[{"role": "assistant", "content": text}] for text in (GOOD, BAD, GOOD, GOOD)]
    totals = reward.as_reward_function(group_size=2)(
        completions=chats, state=[0, 0, 1, 1], trainer_state=state, log_metric=logged.__setitem__
    )
    texts = [chat[0]["content"] for chat in chats]
    assert totals == reward.score(texts, [0, 0, 1, 1], training_step=4)[0].tolist()
    expected = np.std(totals[:2], ddof=1) / 2  # the second group has no spread
    assert logged["group_reward_std"] == pytest.approx(expected)
    assert logged["groups_without_spread"] == 0.5
    assert logged["validity"] == 1.0
    assert logged["term/composite"] == pytest.approx(np.mean(totals))
    reserves = [parse_mechanism(text).mechanism.reserve_price for text in (GOOD, BAD, GOOD, GOOD)]
    assert logged["reserve_price"] == pytest.approx(np.median(reserves))
    assert logged["reserve_price_low"] <= logged["reserve_price"] <= logged["reserve_price_high"]


def test_rewards_of_sampled_answers_and_of_neighbours_are_logged_apart(states: Episodes) -> None:
    reward = MarketReward(states, 8, 1, 0)
    asked = {"completions": [BAD, GOOD, BAD, GOOD], "state": [0, 0, 1, 1]}
    logged: dict[str, float] = {}
    totals = reward.as_reward_function(2, neighbours=1)(**asked, log_metric=logged.__setitem__)
    assert logged["reward_sampled"] == pytest.approx(np.mean(totals[1::2]))
    assert logged["reward_neighbours"] == pytest.approx(np.mean(totals[::2]))
    assert logged["term/composite"] == pytest.approx(np.mean(totals))  # as ever, of all
    plain: dict[str, float] = {}
    reward.as_reward_function(2)(**asked, log_metric=plain.__setitem__)
    assert not [name for name in plain if name.startswith("reward_s") and name != "reward_seconds"]
