"""Settings of evolution build the mechanism that it finds for the run's reward."""

from __future__ import annotations

import pytest

from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.evolution import EvolutionSettings
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.evolution import evolve
from tests.design.search.markets import AGAINST_WELFARE, COMPOSITE, env_of

SETTINGS = EvolutionSettings(population=2, generations=4, episodes=4)


@pytest.mark.parametrize("stack", [COMPOSITE, AGAINST_WELFARE])
def test_the_designer_proposes_what_evolution_finds(stack: RewardStack) -> None:
    env = env_of(stack)
    found = SETTINGS.build(DesignerContext(env, 3)).mechanism
    assert found == evolve(env, SETTINGS, 3)
    assert (found.reserve_price > 0.6) == (stack is AGAINST_WELFARE)
