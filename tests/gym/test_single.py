"""One market in Gymnasium: both checkers pass, and the numbers are the market's, to the bit."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_for_stable_baselines

import daedalus
from daedalus.gym import ID, MarketEnv, decode
from daedalus.market.interface import MarketSettings
from daedalus.rewards.stack import RewardStack
from daedalus.search.features import observed_features
from tests.populations import population


@pytest.fixture
def env() -> gymnasium.Env:
    return gymnasium.make(ID, population="stage4", reward="revenue", disable_env_checker=True)


@pytest.mark.parametrize("market", ["strategic", "classic"])
def test_gymnasium_s_checker_passes(market: str, caplog: pytest.LogCaptureFixture) -> None:
    made = gymnasium.make(ID, population="stage3", market=market)
    check_env(made.unwrapped, skip_render_check=True)
    assert made.spec.id == ID and isinstance(made.unwrapped, MarketEnv)


@pytest.mark.filterwarnings("error")
def test_stable_baselines_checker_passes(env: gymnasium.Env) -> None:
    check_for_stable_baselines(env.unwrapped, warn=True)


def test_numbers_are_those_of_the_market(env: gymnasium.Env) -> None:
    market = daedalus.market("stage4", reward="revenue")
    seen, info = env.reset(seed=7)
    env.action_space.seed(7)
    np.testing.assert_array_equal(seen, observed_features(market.reset(7))[0].astype(np.float32))
    assert info == {"seed": 7} and seen.dtype == np.float32
    for number in range(1, 11):
        action = env.action_space.sample()
        seen, reward, terminated, truncated, told = env.step(action)
        step = market.step(decode(action))
        expected = observed_features(step.observation)[0].astype(np.float32)
        np.testing.assert_array_equal(seen, expected)
        assert reward == step.reward and type(reward) is float
        assert told["composite"] == RewardStack().of_mechanisms(step.outcome)[0] != reward
        assert (terminated, truncated) == (number == 10, False)


def test_a_seed_decides_the_episodes_after_it_too(env: gymnasium.Env) -> None:
    drawn = [[env.reset(seed=seed)[1]["seed"]] for seed in (1, 1, 2)]
    assert drawn == [[1], [1], [2]]
    later = []
    for seed in (1, 1, 2):
        env.reset(seed=seed)
        later.append([env.reset()[1]["seed"] for _ in range(3)])
    assert later[0] == later[1] != later[2] and len(set(later[0])) == 3
    seen, info = env.reset()
    again, _ = env.reset(seed=info["seed"])
    np.testing.assert_array_equal(seen, again)


def test_objects_and_changes_may_be_given() -> None:
    stack = RewardStack({"composite": 0.0, "welfare": 1.0})
    made = gymnasium.make(
        ID, population=population(2), market=MarketSettings(episode_length=2), reward=stack
    )
    made.reset(seed=0)
    assert not made.step(made.action_space.sample())[2] and made.step(made.action_space.sample())[2]
    short = gymnasium.make(ID, overrides=("market.episode_length=1",))
    short.reset(seed=0)
    assert short.step(short.action_space.sample())[2]
    with pytest.raises(RuntimeError, match="call reset first"):
        MarketEnv(daedalus.market("stage3").env).step(np.zeros(11, np.int64))
