"""Watching changes nothing, and an ended episode keeps its last rounds."""

from __future__ import annotations

from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.messages import DaedalusAction
from daedalus.service.sessions.watching import arena, reveal

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


def test_an_ended_episode_keeps_its_last_rounds(catalogue) -> None:
    environment = DaedalusEnvironment(catalogue)
    environment.reset(seed=3, episode_length=1)
    environment.step(DaedalusAction())
    last = arena(environment)
    environment.step(DaedalusAction(auction_type="first_price"))
    assert arena(environment) == last and len(last.rounds) == 5
