"""Watching changes nothing, and an ended episode keeps its last rounds."""

from __future__ import annotations

from dataclasses import replace

from daedalus.market.population import Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.ranges import Ranges
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.messages import DaedalusAction
from daedalus.service.sessions.watching import arena, reveal
from tests.populations import TYPES

SHILLS = {"auction_type": "vcg", "reserve_price": 0.2, "reveal_competing_bids": True}


def test_watching_changes_nothing(catalogue) -> None:
    rewards = []
    for watching in (True, False):
        environment = DaedalusEnvironment(catalogue)
        environment.reset(seed=3, population="stage4")
        for _ in range(4):
            environment.step(DaedalusAction(**SHILLS))
            if watching:
                assert arena(environment) == arena(environment)
                reveal(environment)
        rewards.append(environment.state.rewards)
    assert rewards[0] == rewards[1]


def test_empty_seats_are_not_shown(catalogue) -> None:
    ranges = Ranges(bidders=[3, 12])
    world = PopulationSettings("world", Population(types=TYPES, ranges=ranges))
    environment = DaedalusEnvironment(
        replace(catalogue, populations={"world": world}, default="world")
    )
    seen = set()
    for seed in range(6):
        environment.reset(seed=seed)
        environment.step(DaedalusAction(**SHILLS))
        bidders = environment.state.n_agents
        seen.add(bidders)
        assert len(reveal(environment).bidders) == bidders
        for each in arena(environment).rounds:
            assert len(each.bids) == len(each.present) == len(each.delivered) == bidders
    assert len(seen) > 2


def test_an_ended_episode_keeps_its_last_rounds(catalogue) -> None:
    environment = DaedalusEnvironment(catalogue)
    environment.reset(seed=3, episode_length=1)
    environment.step(DaedalusAction())
    last = arena(environment)
    environment.step(DaedalusAction(auction_type="first_price"))
    assert arena(environment) == last and len(last.rounds) == 5
