"""Watching: every round of the last step is shown, and the episode stays as it was."""

from __future__ import annotations

import pytest

from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.messages import DaedalusAction
from daedalus.service.sessions.watching import arena, reveal

EPISODE = {"session_id": "watched", "seed": 5, "population": "stage4"}


SHILLS = {"auction_type": "vcg", "reserve_price": 0.2, "reveal_competing_bids": True}


@pytest.mark.parametrize("market", ["strategic", "classic"])
def test_the_arena_shows_the_rounds_that_were_scored(reach, market: str) -> None:
    client = reach()
    client.post("/reset", json=EPISODE | {"market": market})
    body = {"session_id": "watched"}
    assert client.get("/api/arena", params=body).json() == {"step": 0, "rounds": []}
    for step in (1, 2):
        told = client.post("/step", json=body | {"action": SHILLS}).json()
        arena = client.get("/api/arena", params=body).json()
        rounds = arena["rounds"]
        assert arena["step"] == step
        assert [each["number"] for each in rounds] == [
            3 + 5 * step - back for back in range(4, -1, -1)
        ]
        mean = sum(each["scores"]["composite"] for each in rounds[-3:]) / 3
        assert mean == pytest.approx(told["reward"])
        seen = told["observation"]["market_outcomes"][-5:]
        assert [each["price"] for each in rounds] == [each["clearing_price"] for each in seen]
    assert all(len(each["bids"]) == 8 and each["reserve"] == 0.2 for each in rounds)
    assert 0 < sum(sum(each["delivered"]) for each in rounds) <= 15


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


def test_the_reveal_names_types_and_the_owners_of_false_names(reach) -> None:
    client = reach()
    client.post("/reset", json=EPISODE)
    body = {"session_id": "watched"}
    client.post("/step", json=body | {"action": SHILLS})
    told = client.get("/api/reveal", params=body).json()
    rounds = client.get("/api/arena", params=body).json()["rounds"]
    assert len(told["bidders"]) == 8 and {each["type"] for each in told["bidders"]}
    assert [len(each) for each in told["false_names"]] == [
        len(each["false_bids"]) for each in rounds
    ]
    owners = {seat for each in told["false_names"] for seat in each}
    assert all("shill" in told["bidders"][seat]["menu"] for seat in owners)
    assert client.get("/api/arena", params={"session_id": "nobody"}).status_code == 404
