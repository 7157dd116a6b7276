"""Evolution finds good mechanisms, for the reward that it is given."""

from __future__ import annotations

import pytest

from daedalus.design.env import DesignEnv
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.budgets import EvolutionBudget
from daedalus.design.search.evolution import evolve
from daedalus.design.search.objective import EpisodeObjective
from daedalus.design.search.space import random_mechanisms
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanisms
from daedalus.market.population import Population
from daedalus.market.seeds import generator
from tests.design.search.markets import AGAINST_WELFARE, COMPOSITE
from tests.populations import TYPES

BUDGET = EvolutionBudget(population=2, generations=8, episodes=8)


@pytest.mark.slow
@pytest.mark.parametrize("stack", [COMPOSITE, AGAINST_WELFARE], ids=["R", "against welfare"])
def test_evolution_beats_nearly_all_random_mechanisms_on_the_given_reward(
    stack: RewardStack,
) -> None:
    env = DesignEnv.of(MarketSettings(episode_length=2), Population(types=TYPES), stack)
    found = evolve(env, BUDGET, seed=0)
    assert found == evolve(env, BUDGET, seed=0)
    check = EpisodeObjective([env], 0, "check")
    others = check(random_mechanisms(200, generator(1, "r")), 200)
    assert (others < check(Mechanisms.stack([found]), 200)).mean() > 0.95
