"""Settings of searches build designers of what the searches find for the run's reward."""

from __future__ import annotations

import pytest

from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.distilled import DistilledSettings
from daedalus.design.designers.evolution import EvolutionSettings
from daedalus.design.designers.planner import PlannerSettings
from daedalus.design.designers.search import SearchSettings
from daedalus.design.env import DesignEnv, Designer
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.best_fixed import best_fixed
from daedalus.design.search.evolution import evolve
from daedalus.design.search.objective import EpisodeObjective
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import generator, market_seeds
from tests.design.search.markets import AGAINST_WELFARE, COMPOSITE, HIGH_AND_LOW, env_of

SEARCH = SearchSettings(candidates=8, episodes=2, sweeps=1, sweep_episodes=4)
EVOLUTION = EvolutionSettings(population=2, generations=4, episodes=4)
PLANNER = PlannerSettings(futures=4, horizon=2, rounds=0, candidates=16)
DISTILLED = DistilledSettings(rounds=1, states=64, futures=2, horizon=2)


def first_proposal(designer: Designer, env: DesignEnv) -> Mechanisms:
    episodes = env.reset(market_seeds(1, "x", 6))
    return next(episodes.play(designer, generator(0, "d")))[1]


@pytest.mark.parametrize("stack", [COMPOSITE, AGAINST_WELFARE])
def test_the_designer_proposes_what_the_search_finds(stack: RewardStack) -> None:
    env = env_of(stack)
    searched, evolved = (
        each.build(DesignerContext(env, 3)).mechanism for each in (SEARCH, EVOLUTION)
    )
    score = EpisodeObjective([env], 3)
    assert searched == best_fixed(SEARCH, score, generator(3, "search"))[0]
    assert evolved == evolve(env, EVOLUTION, 3)
    assert (searched.reserve_price == 0.9) == (stack is AGAINST_WELFARE)
    assert (evolved.reserve_price > 0.6) == (stack is AGAINST_WELFARE)


@pytest.mark.parametrize("settings", [PLANNER, DISTILLED])
@pytest.mark.parametrize(("stack", "reserve"), [(COMPOSITE, 0.0), (AGAINST_WELFARE, 0.9)])
def test_the_designer_chooses_from_the_portfolio(
    stack: RewardStack, reserve: float, settings: PlannerSettings | DistilledSettings
) -> None:
    env = env_of(stack)
    proposed = first_proposal(settings.build(DesignerContext(env, 0, HIGH_AND_LOW)), env)
    assert (proposed.reserve_price == reserve).all()
