"""Every designer sets what the goal of its market allows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.designers.distilled import DistilledSettings
from daedalus.design.designers.evolution import EvolutionSettings
from daedalus.design.designers.fixed import FixedSettings
from daedalus.design.designers.heuristic import HeuristicSettings
from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.design.designers.planner import PlannerSettings
from daedalus.design.designers.random import RandomSettings
from daedalus.design.designers.search import SearchSettings
from daedalus.design.env import DesignEnv, Episodes
from daedalus.design.language.prompt import PromptSettings
from daedalus.design.search.portfolio import make_portfolio
from daedalus.design.search.space import (
    GRID,
    LEVELS,
    mechanisms_at,
    neighbour,
    neighbours_at,
    places_of,
)
from daedalus.design.search.states import RandomWalkDesigner
from daedalus.lab.studies.local_optimum import one_field_gains
from daedalus.market.allowed import Between
from daedalus.market.goal import ANYTHING, Goal
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parsing import format_mechanism
from daedalus.market.seeds import market_seeds
from tests.allowed import goals
from tests.design.search.markets import env_of

QUICK: list[DesignerSettings] = [
    RandomSettings(),
    RandomSettings(sampling="published"),
    FixedSettings(),
    HeuristicSettings(),
    PlannerSettings(candidates=3, futures=1, horizon=1, variations=2, rounds=1),
]
SEARCHES: list[DesignerSettings] = [
    SearchSettings(candidates=6, episodes=1, sweeps=1, sweep_episodes=1),
    EvolutionSettings(population=1, generations=1, episodes=1),
    DistilledSettings(rounds=2, states=32, candidates=4, futures=1, horizon=1),
]
GOAL = Goal(
    allowed={
        "auction_type": ("vcg", "first_price"),
        "reserve_price": Between(0.123, 0.155),
        "reveal_reserve": (True,),
        "shill_penalty": (1.0, 2.55),
    }
)


def restricted(goal: Goal) -> DesignEnv:
    return replace(env_of(), allowed=goal.allowed)


def play(env: DesignEnv, settings: DesignerSettings) -> list[Mechanism]:
    """Return what a designer sets in two episodes, which refuse what is not allowed."""
    designer, rng = settings.build(DesignerContext(env, 0)), np.random.default_rng(0)
    played = env.reset(market_seeds(0, "allowed", 2)).play(designer, rng)
    return [each[row] for _, each, _ in played for row in range(2)]


@given(goals)
@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.too_slow])
def test_designers_set_what_is_allowed(goal: Goal) -> None:
    for each in QUICK:
        assert all(goal.admits(mechanism) for mechanism in play(restricted(goal), each))


@pytest.mark.parametrize("kind", SEARCHES, ids=lambda each: type(each).__name__)
def test_searches_find_what_is_allowed(kind: DesignerSettings) -> None:
    assert all(GOAL.admits(each) for each in play(restricted(GOAL), kind))


def test_a_portfolio_holds_what_is_allowed() -> None:
    found = make_portfolio(restricted(GOAL), 1, 1, 0)
    assert all(GOAL.admits(found[row]) for row in range(len(found)))


@given(goals)
def test_neighbours_and_settings_are_allowed(goal: Goal) -> None:
    rng, grid = np.random.default_rng(0), goal.settings(GRID)
    start = goal.nearest(Mechanisms.stack([Mechanism()]))
    assert goal.admits(neighbour(start[0], rng, grid))
    for table in (grid, goal.settings(LEVELS)):
        near = mechanisms_at(neighbours_at(places_of(start, table), rng, table), table)
        assert goal.admits(near[0])


def test_a_field_with_one_value_has_no_neighbour() -> None:
    only = Goal(allowed={name: (value,) for name, value in Mechanism().to_dict().items()})
    grid, rng = only.settings(GRID), np.random.default_rng(0)
    assert neighbour(Mechanism(), rng, grid) == Mechanism()
    assert not neighbours_at(np.zeros((3, 11), np.int64), rng, grid).any()


def test_the_neighbours_of_a_local_optimum_are_allowed() -> None:
    start = GOAL.nearest(Mechanisms.stack([Mechanism()]))[0]
    gains = one_field_gains(restricted(GOAL), start, 2, 0)
    tried = set(gains.loc[gains["field"] == "reserve_price", "value"])
    assert tried == {0.13, 0.14, 0.15, 0.155} and "reveal_reserve" not in set(gains["field"])


def test_an_answer_that_is_not_allowed_is_malformed_in_its_market_alone() -> None:
    episodes = env_of().reset(market_seeds(0, "allowed", 2))
    mixed = replace(episodes, goals=np.array([GOAL, ANYTHING], object))
    text = format_mechanism(Mechanism())
    designer = LanguageModelDesigner(lambda chats, *_: [text] * len(chats), PromptSettings())
    proposed = designer.propose(mixed.observe(), np.random.default_rng(0))
    assert proposed.malformed.tolist() == [True, False]
    assert "auction_type: 'second_price' is not allowed" in designer.answers[0].parsed.reason
    assert mixed.step(proposed).reward[0] == 0


@pytest.mark.parametrize("portfolio", [None, Mechanisms.stack([Mechanism(), Mechanism("vcg")])])
def test_a_random_walk_follows_the_goal_of_each_market(portfolio: Mechanisms | None) -> None:
    episodes = env_of().reset(market_seeds(0, "allowed", 4))
    mixed = replace(episodes, goals=np.array([GOAL, ANYTHING] * 2, object))
    walk, rng = RandomWalkDesigner(portfolio), np.random.default_rng(0)
    for _, proposed, _ in mixed.play(walk, rng):
        assert GOAL.admits(proposed[0]) and GOAL.admits(proposed[2])


def test_the_planner_follows_the_goal_of_each_market() -> None:
    episodes: Episodes = env_of().reset(market_seeds(0, "allowed", 3))
    mixed = replace(episodes, goals=np.array([GOAL, ANYTHING, GOAL], object))
    planner = QUICK[-1].build(DesignerContext(env_of(), 0))
    for _, proposed, _ in mixed.play(planner, np.random.default_rng(0)):
        assert GOAL.admits(proposed[0]) and GOAL.admits(proposed[2])
