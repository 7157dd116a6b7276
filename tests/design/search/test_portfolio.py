"""Portfolios: best responses to sampled populations, and one mechanism for all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search import portfolio as module
from daedalus.design.search.budgets import EvolutionBudget
from daedalus.design.search.evolution import evolve
from daedalus.design.search.objective import EpisodeObjective
from daedalus.design.search.portfolio import best_responses, make_portfolio, sampled_envs
from daedalus.design.search.space import random_mechanisms
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import generator
from tests.design.search.markets import AGAINST_WELFARE, COMPOSITE, HIGH, LOW, env_of, mixed_env


@pytest.mark.slow
@pytest.mark.parametrize(("stack", "sweeps"), [(COMPOSITE, 0), (AGAINST_WELFARE, 2)])
def test_best_responses_beat_random_mechanisms_on_the_given_reward(
    stack: RewardStack, sweeps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SWEEPS", sweeps)
    envs = sampled_envs(replace(mixed_env(concentration=1.0), reward=stack), 2, 0, "p")
    drawn = random_mechanisms(64, generator(7, "r"))
    for env, best in zip(envs, best_responses(envs, [], 8, 0, "p"), strict=True):
        score = EpisodeObjective([env], 0, "check")
        found = score(Mechanisms.stack([best]), 32)[0]
        assert found > np.quantile(score(drawn, 32), 0.9)


@pytest.mark.slow
def test_a_portfolio_ends_with_the_best_found_on_the_mixture() -> None:
    env = mixed_env(concentration=0.05)
    portfolio = make_portfolio(env, 1, 4, 0)
    evolved = evolve(env, EvolutionBudget(episodes=2), 0)
    pool = Mechanisms.stack([*(portfolio[row] for row in range(len(portfolio))), evolved])
    scores = EpisodeObjective([env], 0, "portfolio/choice")(pool, 32)
    assert scores.argmax() == len(portfolio) - 1


@pytest.mark.parametrize(("stack", "last"), [(COMPOSITE, LOW), (AGAINST_WELFARE, HIGH)])
def test_a_portfolio_ends_with_the_best_for_the_given_reward(
    stack: RewardStack, last: Mechanism, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    monkeypatch.setattr(module, "_SWEEPS", 0)
    monkeypatch.setattr(module, "best_responses", lambda envs, *_: asked.extend(envs) or [HIGH])
    monkeypatch.setattr(module, "evolve", lambda env, *_: asked.append(env) or LOW)
    portfolio = make_portfolio(env_of(stack), 1, 4, 0)
    assert portfolio[len(portfolio) - 1] == last
    assert [env.reward for env in asked] == [stack, stack]


@pytest.mark.slow
def test_a_portfolio_is_rounded_repeats_nothing_and_depends_on_its_seed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "evolve", lambda *_: LOW)
    env = mixed_env(concentration=1.0)
    one, same, other = (make_portfolio(env, 2, 4, seed) for seed in (0, 0, 1))
    rows = [one[row] for row in range(len(one))]
    assert rows == [same[row] for row in range(len(same))]
    assert rows != [other[row] for row in range(len(other))]
    assert 1 <= len(rows) <= 3 and all(rows.count(row) == 1 for row in rows)
    assert all(row.shill_penalty == round(row.shill_penalty, 1) for row in rows)


def test_responses_maximise_rewards_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(module, "_SWEEPS", 0)
    monkeypatch.setattr(module, "best_responses", lambda envs, *_: asked.extend(envs) or [HIGH])
    monkeypatch.setattr(module, "evolve", lambda env, *_: LOW)
    rewards = [RewardStack({"revenue": 1.0}), RewardStack({"welfare": 1.0})]
    make_portfolio(env_of(COMPOSITE), 2, 4, 0, rewards)
    assert [env.reward for env in asked] == rewards
    with pytest.raises(ValueError, match="shorter"):
        make_portfolio(env_of(COMPOSITE), 3, 4, 0, rewards)
