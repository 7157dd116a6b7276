"""Many markets in Gymnasium: the same as single ones side by side, in every mode of autoreset."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import daedalus
from daedalus.design.env import DesignEnv
from daedalus.doors.gym import ID, MarketEnv, MarketVectorEnv

SHORT = ("market.episode_length=3",)


@pytest.fixture(scope="module")
def env() -> DesignEnv:
    return daedalus.make("stage4", *SHORT).env


def same(ours: Any, theirs: Any) -> None:
    """Compare infos or observations, nested as they are, to the bit and with their types."""
    if isinstance(theirs, dict):
        assert set(ours) == set(theirs)
        for key in theirs:
            same(ours[key], theirs[key])
    elif theirs.dtype == object:
        for one, other in zip(ours, theirs, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                np.testing.assert_array_equal(one, other)
    else:
        np.testing.assert_array_equal(ours, theirs)
        assert ours.dtype == theirs.dtype


def reset_apart(vector: Any, mask: np.ndarray) -> Any:
    return vector.reset(options={"reset_mask": mask})


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_it_is_single_markets_side_by_side(env: DesignEnv, mode: AutoresetMode) -> None:
    ours = MarketVectorEnv(env, 3, mode)
    theirs = SyncVectorEnv([lambda: MarketEnv(env)] * 3, autoreset_mode=mode)
    assert ours.metadata == theirs.metadata
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    for one, other in zip(ours.reset(seed=5), theirs.reset(seed=5), strict=True):
        same(one, other)
    theirs.action_space.seed(0)
    ended = np.zeros(3, np.bool_)
    for number in range(11):
        if number == 1 or (mode == AutoresetMode.DISABLED and ended.any()):
            mask = np.array([False, True, False]) if number == 1 else ended
            for one, other in zip(reset_apart(ours, mask), reset_apart(theirs, mask), strict=True):
                same(one, other)
        actions = theirs.action_space.sample()
        one, other = ours.step(actions), theirs.step(actions)
        for mine, expected in zip(one, other, strict=True):
            same(mine, expected)
        ended = other[2]


@pytest.mark.parametrize("seed", [7, [3, 1, 3], [None, 4, 9]])
def test_seeds_are_gymnasium_s(env: DesignEnv, seed: Any) -> None:
    ours, theirs = MarketVectorEnv(env, 3), SyncVectorEnv([lambda: MarketEnv(env)] * 3)
    told, expected = ours.reset(seed=seed)[1]["seed"], theirs.reset(seed=seed)[1]["seed"]
    named = [row for row in range(3) if isinstance(seed, int) or seed[row] is not None]
    np.testing.assert_array_equal(told[named], expected[named])
    later, known = ours.reset()[1]["seed"], theirs.reset()[1]["seed"]
    np.testing.assert_array_equal(later[named], known[named])
    assert len(set(MarketVectorEnv(env, 3).reset()[1]["seed"])) == 3


def test_make_vec_takes_the_vector_entry_point() -> None:
    made = gymnasium.make_vec(
        ID, 4, "vector_entry_point", population="world", overrides=SHORT, reward="welfare"
    )
    assert isinstance(made.unwrapped, MarketVectorEnv) and made.num_envs == 4
    seen, _ = made.reset(seed=0)
    assert made.observation_space.contains(seen)
    _, rewards, *_ = made.step(made.action_space.sample())
    assert rewards.shape == (4,) and ((rewards >= 0) & (rewards <= 1)).all()
    single = gymnasium.make_vec(ID, 2, "sync", population="world", overrides=SHORT)
    same(single.reset(seed=0)[0], seen[:2])


def test_levels_that_are_not_allowed_count_as_the_nearest_that_are() -> None:
    allowed = {"auction_type": ["vcg"], "reserve_price": {"min": 0.12, "max": 0.3}}
    side_by_side, apart = (
        gymnasium.make_vec(ID, 3, mode, population="stage3", allowed=allowed)
        for mode in ("vector_entry_point", "sync")
    )
    side_by_side.action_space.seed(0)
    actions = side_by_side.action_space.sample()
    same(side_by_side.reset(seed=0)[0], apart.reset(seed=0)[0])
    same(side_by_side.step(actions)[1], apart.step(actions)[1])


def test_mistakes_say_what_to_give(env: DesignEnv) -> None:
    vector = MarketVectorEnv(env, 3, AutoresetMode.DISABLED)
    actions = np.zeros((3, 11), np.int64)
    with pytest.raises(RuntimeError, match="call reset first"):
        vector.step(actions)
    with pytest.raises(ValueError, match="seed: 2 seeds; give one for each of 3"):
        vector.reset(seed=[1, 2])
    for mask in (np.ones(2, np.bool_), np.ones(3), np.zeros(3, np.bool_)):
        with pytest.raises(ValueError, match=r"reset_mask: \w+ of shape .+; give booleans"):
            vector.reset(options={"reset_mask": mask})
    vector.reset(seed=0)
    with pytest.raises(ValueError, match="action: auction_type has no level 5"):
        vector.step(actions + 5)
    for _ in range(3):
        vector.step(actions)
    with pytest.raises(RuntimeError, match="an episode has ended"):
        vector.step(actions)


def test_wrong_actions_seeds_and_options_are_refused(env: DesignEnv) -> None:
    vector, zeros = MarketVectorEnv(env, 3), np.zeros((3, 11), np.int64)
    vector.reset(seed=0)
    for actions in (zeros.astype(float), zeros[0], zeros[:2], None):
        with pytest.raises(ValueError, match=r"action: .*; give integers of shape \(3, 11\)"):
            vector.step(actions)
    for seed in (-1, 1.5, True, "abc", [1, 2, "3"], [1, 2, -3], np.array(3), [[1], [2], [3]]):
        with pytest.raises(ValueError, match=r"seed: .*; give an integer from 0 to"):
            vector.reset(seed=seed)
    with pytest.raises(ValueError, match=r"options: 'population'; reset reads only reset_mask"):
        vector.reset(options={"population": "nope"})
    with pytest.raises(ValueError, match=r"options: 3; give a mapping or None"):
        vector.reset(options=3)
    same(vector.reset(seed=np.array([4, 5, 6]))[0], vector.reset(seed=[4, 5, 6])[0])
    same(vector.reset(seed=np.int64(4))[0], vector.reset(seed=[4, 5, 6])[0])


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "3"])
def test_a_wrong_number_of_markets_is_refused(env: DesignEnv, count: Any) -> None:
    with pytest.raises(ValueError, match=r"num_envs: .*; give an integer from 1 up"):
        MarketVectorEnv(env, count)


def test_a_wrong_autoreset_mode_is_refused(env: DesignEnv) -> None:
    with pytest.raises(
        ValueError, match="autoreset_mode: 'nope'; choose one of NextStep, SameStep"
    ):
        MarketVectorEnv(env, 2, "nope")
