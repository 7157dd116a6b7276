"""Settings of the search build the mechanism that it finds for the run's reward."""

from __future__ import annotations

import pytest

from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.search import SearchSettings
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.best_fixed import best_fixed
from daedalus.design.search.objective import EpisodeObjective
from daedalus.market.seeds import generator
from tests.design.search.markets import AGAINST_WELFARE, COMPOSITE, env_of

SETTINGS = SearchSettings(candidates=8, episodes=2, sweeps=1, sweep_episodes=4)


@pytest.mark.parametrize("stack", [COMPOSITE, AGAINST_WELFARE])
def test_the_designer_proposes_what_the_search_finds(stack: RewardStack) -> None:
    env = env_of(stack)
    found = SETTINGS.build(DesignerContext(env, 3)).mechanism
    score = EpisodeObjective([env], 3)
    assert found == best_fixed(SETTINGS, score, generator(3, "search"))[0]
    assert (found.reserve_price == 0.9) == (stack is AGAINST_WELFARE)


def test_each_population_has_a_search_of_its_own() -> None:
    assert SearchSettings.per_population
