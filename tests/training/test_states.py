"""Mid-episode states and synthetic mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.env import DesignEnv
from daedalus.market.mechanism import CHOICES, RANGES, Mechanisms
from daedalus.training.states import mid_episode_states, synthetic_mechanisms


def test_states_stop_at_every_step_that_leaves_the_horizon(env: DesignEnv) -> None:
    states = mid_episode_states(env, 500, seed=0, purpose="x", horizon=3)
    assert set(states.steps) == set(range(8))
    rounds = env.settings.warmup_rounds + env.settings.rounds_per_step * states.steps
    np.testing.assert_array_equal(states.state.rounds, rounds)
    assert not states.done.any()


def test_states_depend_on_the_seed_alone(env: DesignEnv) -> None:
    one, same, other = (mid_episode_states(env, 50, seed, "x") for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.state.bids, same.state.bids)
    assert (one.state.bids != other.state.bids).any()


def test_a_horizon_beyond_the_episode_is_refused(env: DesignEnv) -> None:
    with pytest.raises(ValueError, match="horizon: 11; an episode has 10 steps"):
        mid_episode_states(env, 4, seed=0, purpose="x", horizon=11)


def test_synthetic_mechanisms_cover_the_space_and_its_ends() -> None:
    batch = Mechanisms.stack(synthetic_mechanisms(4000, seed=0))
    for name, words in CHOICES.items():
        counts = np.bincount(getattr(batch, name), minlength=len(words))
        assert (counts > 4000 / len(words) * 0.85).all()
    for name, (low, high) in RANGES.items():
        values = getattr(batch, name)
        assert 0.08 < (values == low).mean() < 0.13
        assert 0.08 < (values == high).mean() < 0.13
        inside = values[(values > low) & (values < high)]
        assert abs(inside.mean() - (low + high) / 2) < 0.05 * (high - low)
    assert (batch.reserve_price == batch.reserve_price.round(2)).all()
    assert (batch.collusion_penalty == batch.collusion_penalty.round(1)).all()
