"""The planner: it proposes the best of its candidates, or what local search finds."""

from __future__ import annotations

import numpy as np
import pytest

from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.budgets import PlannerBudget
from daedalus.design.search.lookahead import LookAhead
from daedalus.design.search.planner import Planner, plan
from daedalus.design.search.space import random_mechanisms
from daedalus.design.search.states import mid_episode_states
from daedalus.market.seeds import generator, market_seeds
from tests.design.search.markets import (
    AGAINST_WELFARE,
    COMPOSITE,
    HIGH_AND_LOW,
    env_of,
    mixed_env,
    rewarded,
)


@pytest.mark.slow
def test_a_plan_is_the_best_candidate_and_local_search_only_improves_on_its_own_futures() -> None:
    paused = mid_episode_states(mixed_env(concentration=1.0), 6, 0, "x", 2)
    candidates = random_mechanisms(8, generator(3, "c"))
    rewards = LookAhead(4, 0).compare(paused, candidates, 2, "x")
    budget = PlannerBudget(futures=4, horizon=2, rounds=0)
    chosen = plan(paused, candidates, budget, 0, "x")
    for row, best in enumerate(rewards.argmax(axis=1)):
        assert chosen[row] == candidates[int(best)]
    budget = PlannerBudget(futures=64, horizon=2, rounds=3)
    deeper = plan(paused, candidates, budget, 0, "x")
    seeds = np.tile(market_seeds(9, "check", 200), (6, 1))
    look_ahead = LookAhead(200, 0)
    plain, searched = (
        look_ahead.expected_rewards(paused, np.arange(6), each, seeds, 2)
        for each in (chosen, deeper)
    )
    assert searched.mean() > plain.mean() + 0.01


def test_local_search_maximises_the_given_reward() -> None:
    paused = mid_episode_states(env_of(), 6, 0, "x", 2)
    start = HIGH_AND_LOW.take(np.array([1]))

    def welfare_after(stack: RewardStack) -> float:
        budget = PlannerBudget(futures=8, horizon=2, rounds=3)
        found = plan(rewarded(paused, stack), start, budget, 0, "x")
        seeds = np.tile(market_seeds(9, "check", 50), (6, 1))
        judged = rewarded(paused, RewardStack({"welfare": 1.0}))
        rewards = LookAhead(50, 0).expected_rewards(judged, np.arange(6), found, seeds, 2)
        return float(rewards.mean())

    assert welfare_after(AGAINST_WELFARE) < welfare_after(COMPOSITE) - 0.1


def test_the_planner_must_see_the_episodes() -> None:
    episodes = env_of().reset(market_seeds(5, "evaluation", 8))
    planner = Planner(HIGH_AND_LOW, PlannerBudget(), seed=0)
    with pytest.raises(ValueError, match=r"Episodes\.play"):
        planner.propose(episodes.observe(), generator(0, "p"))
