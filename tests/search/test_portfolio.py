"""Portfolios: best responses to sampled populations, and one mechanism for all of them."""

from __future__ import annotations

import numpy as np
import pytest

import daedalus.search.portfolio
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import generator, market_seeds
from daedalus.rewards.stack import RewardStack
from daedalus.search.budgets import EvolutionBudget
from daedalus.search.evolution import evolve
from daedalus.search.objective import EpisodeObjective
from daedalus.search.portfolio import best_responses, make_portfolio, sampled_envs
from daedalus.search.space import random_mechanisms
from tests.search.markets import AGAINST_WELFARE, COMPOSITE, mixed_env


def test_best_responses_beat_random_mechanisms_where_they_were_found() -> None:
    envs = sampled_envs(mixed_env(concentration=1.0), 2, 0, "p")
    found = best_responses(envs, COMPOSITE, [], 8, 0, "p")
    assert len(found) == 2
    drawn = random_mechanisms(32, generator(7, "r"))
    for env, best in zip(envs, found, strict=True):
        seeds = market_seeds(3, "evaluation", 32)
        env.reset(seeds)
        good = env.step(Mechanisms.repeat(best, 32)).reward.mean()
        env.reset(seeds)
        assert good > env.step(drawn).reward.mean()


def test_best_responses_maximise_the_given_reward() -> None:
    envs = sampled_envs(mixed_env(concentration=1.0), 1, 0, "p")
    (found,) = best_responses(envs, AGAINST_WELFARE, [], 8, 0, "p")
    drawn = random_mechanisms(64, generator(7, "r"))
    score = EpisodeObjective(envs, AGAINST_WELFARE, 0, "check")
    assert score(Mechanisms.stack([found]), 32)[0] > np.quantile(score(drawn, 32), 0.9)


@pytest.mark.parametrize(
    ("sweeps", "stack"), [(0, COMPOSITE), (2, COMPOSITE), (0, AGAINST_WELFARE)]
)
def test_a_portfolio_ends_with_the_best_found_on_the_mixture(
    sweeps: int, stack: RewardStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(daedalus.search.portfolio, "_SWEEPS", sweeps)
    env = mixed_env(concentration=0.05)
    portfolio = make_portfolio(env, stack, 1, 4, 0)
    evolved = evolve(env, stack, EvolutionBudget(episodes=2), 0)
    pool = Mechanisms.stack([*(portfolio[row] for row in range(len(portfolio))), evolved])
    scores = EpisodeObjective([env], stack, 0, "portfolio/choice")(pool, 32)
    assert scores.argmax() == len(portfolio) - 1


def test_a_portfolio_is_rounded_repeats_nothing_and_depends_on_its_seed() -> None:
    env = mixed_env(concentration=1.0)
    one, same, other = (make_portfolio(env, COMPOSITE, 2, 4, seed) for seed in (0, 0, 1))
    rows = [one[row] for row in range(len(one))]
    assert rows == [same[row] for row in range(len(same))]
    assert rows != [other[row] for row in range(len(other))]
    assert 1 <= len(rows) <= 3 and all(rows.count(row) == 1 for row in rows)
    assert all(row.shill_penalty == round(row.shill_penalty, 1) for row in rows)
