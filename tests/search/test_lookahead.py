"""Looking ahead: futures are those of the true state, shared, and what wins there is proposed."""

from __future__ import annotations

import daedalus.evaluation.portfolio
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.designers.fixed import FixedDesigner
from daedalus.designers.planner import EvolutionSettings, PlannerSettings
from daedalus.designers.random import RandomDesigner
from daedalus.env import DesignEnv
from daedalus.evaluation.episodes import play_episodes, score_mechanisms
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.market.population import Population
from daedalus.market.seeds import generator, market_seeds
from daedalus.rewards.terms import composite
from daedalus.search.evolution import evolve
from daedalus.search.lookahead import (
    ContinuationPolicy,
    Planner,
    compare_candidates,
    compare_continued,
    expected_rewards,
    plan,
    play_futures,
    varied,
)
from daedalus.search.portfolio import best_responses, portfolio, sampled_envs
from daedalus.search.space import random_mechanisms
from daedalus.search.states import mid_episode_states
from tests.populations import TYPES


def environment(**changes: object) -> DesignEnv:
    settings = MarketSettings(episode_length=4)
    return DesignEnv.of(settings, Population(types=TYPES, **changes))


def states(count: int = 6, horizon: int = 2) -> DesignEnv:
    return mid_episode_states(environment(concentration=1.0), count, 0, "x", horizon)


def test_a_candidate_earns_what_stepping_a_fork_gives():
    paused = states()
    rules = random_mechanisms(6, generator(0, "rules"))
    seeds = market_seeds(1, "futures", 6).reshape(6, 1)
    expected = np.zeros(6)
    for row in range(6):
        fork = paused.fork(np.array([row]), seeds[row])
        rewards = [fork.step(rules.take(np.array([row]))).reward[0] for _ in range(2)]
        expected[row] = np.mean(rewards)
    assert_allclose(expected_rewards(paused, np.arange(6), rules, seeds, 2), expected)


def test_looking_ahead_leaves_the_states_alone():
    paused = states()
    before = paused.observe()
    plan(paused, random_mechanisms(3, generator(0, "r")), PlannerSettings(rounds=1), 0, "x")
    after = paused.observe()
    assert_array_equal(before.recent, after.recent)
    assert_array_equal(before.round_number, after.round_number)


def test_candidates_face_the_same_futures_and_another_purpose_others():
    paused = states()
    twice = Mechanisms.repeat(Mechanism(), 2)
    rewards = compare_candidates(paused, twice, 3, 2, 0, "x")
    assert rewards.shape == (6, 2)
    assert_array_equal(rewards[:, 0], rewards[:, 1])
    assert (rewards != compare_candidates(paused, twice, 3, 2, 0, "y")).any()


def test_a_candidate_is_kept_and_then_the_designer_goes_on_to_the_end():
    paused = states(horizon=1)
    rules, later = random_mechanisms(3, generator(0, "rules")), Mechanism(reserve_price=0.1)
    designer = FixedDesigner(later)
    seeds = market_seeds(0, "x/futures", 6 * 2).reshape(6, 2)
    expected = np.zeros((6, 3, 2))
    for row, rule, future in np.ndindex(expected.shape):
        fork = paused.fork(np.array([row]), seeds[row, [future]])
        for step in range(4 - int(paused.steps[row])):
            now = rules[rule] if step < 2 else later
            expected[row, rule, future] += fork.step(Mechanisms.repeat(now, 1)).reward[0]
    worth = compare_continued(paused, rules, 2, ContinuationPolicy(designer, 2), 0, "x")
    assert len(np.unique(paused.steps)) > 1
    assert_allclose(worth, expected.mean(axis=2))


def test_a_successor_draws_by_the_futures_seeds():
    paused, rules = states(), Mechanisms.repeat(Mechanism(), 6)
    following = ContinuationPolicy(RandomDesigner(), kept=1)
    scores = []
    for seed in (1, 1, 2):
        seeds = market_seeds(seed, "futures", 12).reshape(6, 2)
        played = play_futures(paused, np.arange(6), rules, seeds, 2, following)
        scores.append(composite(played))
    assert_array_equal(scores[0], scores[1])
    assert (scores[0] != scores[2]).any()


def test_looking_to_the_end_leaves_the_states_alone():
    paused = states(horizon=1)
    before = paused.observe()
    designer = FixedDesigner(Mechanism())
    two = random_mechanisms(2, generator(0, "r"))
    compare_continued(paused, two, 1, ContinuationPolicy(designer, 1), 0, "x")
    assert_array_equal(before.recent, paused.observe().recent)


def test_a_plan_is_the_best_candidate_and_local_search_only_improves_on_its_own_futures():
    paused = states()
    candidates = random_mechanisms(8, generator(3, "c"))
    settings = PlannerSettings(futures=4, horizon=2, rounds=0)
    rewards = compare_candidates(paused, candidates, 4, 2, 0, "x")
    chosen = plan(paused, candidates, settings, 0, "x")
    for row, best in enumerate(rewards.argmax(axis=1)):
        assert chosen[row] == candidates[int(best)]
    deeper = plan(paused, candidates, PlannerSettings(futures=64, horizon=2, rounds=3), 0, "x")
    seeds = np.tile(market_seeds(9, "check", 200), (6, 1))
    plain, searched = (
        expected_rewards(paused, np.arange(6), each, seeds, 2) for each in (chosen, deeper)
    )
    assert searched.mean() > plain.mean() + 0.01


def test_variants_differ_in_one_field_and_reach_every_field():
    rules = Mechanisms.repeat(Mechanism(reserve_price=0.15, shill_penalty=0.1), 400)
    changed = varied(rules, generator(0, "v"))
    moved = np.array([getattr(changed, f) != getattr(rules, f) for f in FIELDS])
    assert (moved.sum(axis=0) <= 1).all()
    assert moved.any(axis=1).all()


def test_the_planner_beats_its_own_candidates():
    env = environment(concentration=1.0)
    candidates = random_mechanisms(16, generator(1, "c"))
    seeds = market_seeds(5, "evaluation", 20)
    planner = Planner(env, candidates, PlannerSettings(rounds=0, horizon=2), seed=0)
    planned = play_episodes(env, planner, seeds, generator(0, "p"))["reward"].mean()

    class Fixed:
        def __init__(self, row: int) -> None:
            self.rules = candidates.take(np.full(20, row))

        def propose(self, observations: object, rng: object) -> Mechanisms:
            return self.rules

    best = max(
        play_episodes(env, Fixed(row), seeds, generator(0, "f"))["reward"].mean()
        for row in range(16)
    )
    assert planned > best


@pytest.mark.parametrize(("name", "value"), [("futures", 0), ("horizon", 0), ("rounds", -1)])
def test_an_empty_budget_is_refused(name, value):
    with pytest.raises(ValueError, match=f"{name}: {value}"):
        PlannerSettings(**{name: value})


def test_best_responses_beat_random_rules_where_they_were_found():
    envs = sampled_envs(environment(concentration=1.0), 2, 0, "p")
    found = best_responses(envs, [], 8, 0, "p")
    assert len(found) == 2
    drawn = random_mechanisms(32, generator(7, "r"))
    for env, best in zip(envs, found, strict=True):
        seeds = market_seeds(3, "evaluation", 32)
        env.reset(seeds)
        good = env.step(Mechanisms.repeat(best, 32)).reward.mean()
        env.reset(seeds)
        assert good > env.step(drawn).reward.mean()


@pytest.mark.parametrize("sweeps", [0, 2])
def test_a_portfolio_ends_with_what_nothing_found_beats_on_the_mixture(sweeps, monkeypatch):
    monkeypatch.setattr(daedalus.evaluation.portfolio, "_SWEEPS", sweeps)
    env = environment(concentration=0.05)
    rules = portfolio(env, 1, 4, 0)
    evolved = evolve(env, EvolutionSettings(episodes=2), 0)
    pool = Mechanisms.stack([*(rules[row] for row in range(len(rules))), evolved])
    scores = score_mechanisms(env, pool, 32, 0, "portfolio/choice")
    assert scores.argmax() == len(rules) - 1


def test_a_portfolio_is_rounded_repeats_nothing_and_depends_on_its_seed():
    env = environment(concentration=1.0)
    one, same, other = (portfolio(env, 2, 4, seed) for seed in (0, 0, 1))
    rows = [one[row] for row in range(len(one))]
    assert rows == [same[row] for row in range(len(same))]
    assert rows != [other[row] for row in range(len(other))]
    assert 1 <= len(rows) <= 3 and all(rows.count(row) == 1 for row in rows)
    assert all(row.shill_penalty == round(row.shill_penalty, 1) for row in rows)
