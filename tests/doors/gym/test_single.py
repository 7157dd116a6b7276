"""One market in Gymnasium: both checkers pass, and the numbers are the market's, to the bit."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from stable_baselines3.common.env_checker import check_env as check_for_stable_baselines

import daedalus
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.features import observed_features
from daedalus.doors.gym import ID, MarketEnv, decode, encode
from daedalus.market.interface import MarketSettings
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
    market = daedalus.make("stage4", reward="revenue")
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


def test_a_level_that_is_not_allowed_counts_as_the_nearest_that_is() -> None:
    allowed = {"auction_type": ["vcg"], "reserve_price": {"min": 0.12, "max": 0.3}}
    env = gymnasium.make(ID, population="stage3", allowed=allowed)
    market = daedalus.make("stage3", allowed=allowed)
    env.reset(seed=1)
    market.reset(1)
    for mechanism, played in (
        (daedalus.Mechanism("first_price", 0.9), daedalus.Mechanism("vcg", 0.3)),
        (daedalus.Mechanism("vcg", 0.2), daedalus.Mechanism("vcg", 0.2)),
    ):
        assert env.step(encode(mechanism))[1] == market.step(played).reward
    with pytest.raises(ValueError, match=r"allowed\.auction_type: 'dutch' is not allowed"):
        gymnasium.make(ID, allowed={"auction_type": ["dutch"]})


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


def test_an_action_that_is_not_in_the_space_plays_nothing(env: gymnasium.Env) -> None:
    own = env.unwrapped
    own.reset(seed=1)
    with pytest.raises(ValueError, match=r"action: .*; give integers of shape \(11,\)"):
        own.step(np.zeros(11))
    with pytest.raises(ValueError, match="action: auction_type has no level -1"):
        own.step(np.full(11, -1))
    zeros = np.zeros(11, np.int64)
    after = own.step(zeros)[0]
    own.reset(seed=1)
    np.testing.assert_array_equal(own.step(zeros)[0], after)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"population": "nope"}, "options: 'population'; reset reads none, so leave it out"),
        ("stage3", "options: 'stage3'; give a mapping or None"),
    ],
)
def test_an_option_that_nothing_reads_is_refused(
    env: gymnasium.Env, options: object, told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        env.reset(options=options)
    env.reset(options={})


@pytest.mark.parametrize("seed", [-1, 2**53, 1.0, True, "1", np.float64(1), [1], np.bool_(True)])
def test_a_seed_that_is_none_is_refused(env: gymnasium.Env, seed: object) -> None:
    market = daedalus.make("stage4")
    for reset in (env.unwrapped.reset, market.reset):
        with pytest.raises(
            ValueError, match=r"seed: .*; give an integer from 0 to 9007199254740991"
        ):
            reset(seed=seed)


def test_steps_before_and_after_an_episode_are_refused(env: gymnasium.Env) -> None:
    own, action = env.unwrapped, np.zeros(11, np.int64)
    with pytest.raises(RuntimeError, match="there is no episode yet; call reset first"):
        own.step(action)
    told = own.reset(seed=np.int64(0))[1]["seed"]
    assert told == 0 and type(told) is int
    while not own.step(action)[2]:
        pass
    with pytest.raises(RuntimeError, match="the episode has ended; call reset"):
        own.step(action)
