"""Mid-episode states."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv
from daedalus.design.search.states import (
    EpsilonGreedyExplorer,
    RandomWalkDesigner,
    mid_episode_states,
)
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from tests.populations import population


@pytest.fixture(scope="module")
def env() -> DesignEnv:
    return DesignEnv.of(MarketSettings(), population(3))


def test_states_stop_at_every_step_that_leaves_the_horizon(env: DesignEnv) -> None:
    states = mid_episode_states(env, 500, seed=0, purpose="x", horizon=3)
    assert set(states.steps) == set(range(8))
    rounds = env.settings.warmup_rounds + env.settings.rounds_per_step * states.steps
    np.testing.assert_array_equal(states.state.rounds, rounds)
    assert not states.done.any()


def test_a_horizon_beyond_the_episode_is_refused(env: DesignEnv) -> None:
    with pytest.raises(ValueError, match="horizon: 11; an episode has 10 steps"):
        mid_episode_states(env, 4, seed=0, purpose="x", horizon=11)


def test_a_random_walk_plays_its_portfolio_alone(env: DesignEnv) -> None:
    portfolio = Mechanisms.stack([Mechanism(reserve_price=0.2), Mechanism(reserve_price=0.3)])
    player = RandomWalkDesigner(portfolio)
    states = mid_episode_states(env, 200, seed=0, purpose="x", designer=player)
    reserves = states.mechanisms.reserve_price
    assert set(reserves) == {0.1, 0.2, 0.3}  # the first step is under the default
    assert ((reserves == 0.1) == (states.steps == 0)).all()


def test_a_designer_leads_to_the_states_and_an_explorer_leaves_its_path(env: DesignEnv) -> None:
    designer = FixedDesigner(Mechanism(reserve_price=0.2))
    led = mid_episode_states(env, 400, seed=0, purpose="x", designer=designer)
    assert set(led.mechanisms.reserve_price[led.steps > 0]) == {0.2}
    portfolio = Mechanisms.stack([Mechanism(reserve_price=0.3)])
    explorer = EpsilonGreedyExplorer(designer, portfolio, 0.25)
    explored = mid_episode_states(env, 400, seed=0, purpose="x", designer=explorer)
    share = (explored.mechanisms.reserve_price[explored.steps > 0] == 0.3).mean()
    assert 0.15 < share < 0.35
