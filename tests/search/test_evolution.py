"""Evolution finds good mechanisms, for the reward that it is given."""

from __future__ import annotations

from daedalus.env import DesignEnv
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanisms
from daedalus.market.population import Population
from daedalus.market.seeds import generator
from daedalus.rewards.stack import RewardStack
from daedalus.search.budgets import EvolutionBudget
from daedalus.search.evolution import evolve
from daedalus.search.objective import EpisodeObjective
from daedalus.search.space import random_mechanisms
from tests.populations import TYPES
from tests.search.markets import AGAINST_WELFARE, COMPOSITE

BUDGET = EvolutionBudget(population=2, generations=8, episodes=8)


def beaten(stack: RewardStack) -> float:
    """Return the share of random mechanisms that evolution beats on a reward."""
    env = DesignEnv.of(MarketSettings(episode_length=2), Population(types=TYPES), stack)
    found = evolve(env, BUDGET, seed=0)
    assert found == evolve(env, BUDGET, seed=0)
    check = EpisodeObjective([env], 0, "check")
    others = check(random_mechanisms(200, generator(1, "r")), 200)
    return float((others < check(Mechanisms.stack([found]), 200)).mean())


def test_evolution_beats_as_many_random_mechanisms() -> None:
    assert beaten(COMPOSITE) > 0.95


def test_evolution_maximises_the_given_reward() -> None:
    assert beaten(AGAINST_WELFARE) > 0.95
