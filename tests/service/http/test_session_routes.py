"""The session API: the published script, seeds, sessions that run out, and what watchers see."""

from __future__ import annotations

from dataclasses import replace

import pytest

from daedalus.design.env import DesignEnv
from daedalus.evaluation.scale import ENDS
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.market.seeds import market_seeds
from tests.populations import in_both_markets


def test_the_published_script_plays_an_episode(reach) -> None:
    client = reach()
    begin = {"session_id": "me", "n_agents": 8, "episode_length": 10}
    observation = client.post("/reset", json=begin).json()["observation"]
    for step in range(1, 11):
        told = {name: observation[name] for name in ("round_number", "episode_length")}
        told["market_outcomes"] = observation["market_outcomes"]
        mechanism = client.post("/api/design", json=told).json()["mechanism"]
        assert tuple(mechanism) == FIELDS
        answer = client.post("/step", json={"session_id": "me", "action": mechanism}).json()
        assert set(answer) == {"observation", "reward", "done", "info"}
        assert 0.0 <= answer["reward"] <= 1.0
        assert answer["done"] == (step == 10)
        observation = answer["observation"]
        assert observation["mechanism"] == mechanism
        assert len(observation["market_outcomes"]) == min(20, 3 + 5 * step)


@pytest.mark.parametrize("market", ["strategic", "classic"])
def test_a_session_is_the_environment_of_its_seed(reach, market: str) -> None:
    client = reach()
    begin = {"seed": 7, "population": "stage4", "market": market, "session_id": "a", "n_agents": 12}
    client.post("/reset", json=begin)
    answers = [
        client.post("/step", json={"session_id": "a", "action": {"reserve_price": 0.2}}).json()
        for _ in range(3)
    ]
    bidders = replace(in_both_markets(4).in_market(market), bidders=12)
    env = DesignEnv.of(MarketSettings(name=market), bidders)
    episodes = env.reset(market_seeds(7, "service", 1))
    rewards = [
        episodes.step(Mechanisms.stack([Mechanism(reserve_price=0.2)])).reward[0] for _ in range(3)
    ]
    assert [each["reward"] for each in answers] == pytest.approx(rewards)
    state = client.get("/state", params={"session_id": "a"}).json()
    assert state["rewards"] == pytest.approx(rewards)
    assert (state["step_count"], state["n_agents"], state["seed"]) == (3, 12, 7)
    assert state["scores"]["composite"] == pytest.approx(rewards[-1])


def test_the_scale_is_described_as_everywhere(client) -> None:
    described = client.get("/openapi.json").json()["components"]["schemas"]["StepAnswer"]
    assert ENDS in described["properties"]["info"]["description"]


def test_a_drawn_seed_is_named_and_repeats_the_episode(reach) -> None:
    client = reach()
    first = client.post("/reset", json={}).json()
    again = client.post("/reset", json={"seed": first["info"]["seed"]}).json()
    assert again["observation"] == first["observation"]
    assert again["session_id"] != first["session_id"]


def test_places_run_out_and_a_living_session_keeps_its_own(reach) -> None:
    client = reach()
    for name in ("a", "b", "a"):
        assert client.post("/reset", json={"session_id": name}).status_code == 200
        step = {"session_id": name, "action": {}}
        assert client.post("/step", json=step).status_code == 200
    answer = client.post("/reset", json={"session_id": "c"})
    assert answer.status_code == 503
    assert 1 <= int(answer.headers["Retry-After"]) <= 120
    assert client.post("/step", json={"session_id": "a", "action": {}}).status_code == 200


EPISODE = {"session_id": "watched", "seed": 5, "population": "stage4"}
SHILLS = {"auction_type": "vcg", "reserve_price": 0.2, "reveal_competing_bids": True}


@pytest.mark.parametrize("market", ["strategic", "classic"])
def test_the_arena_shows_the_rounds_that_were_scored(client, market: str) -> None:
    client.post("/reset", json=EPISODE | {"market": market})
    body = {"session_id": "watched"}
    assert client.get("/api/arena", params=body).json() == {"step": 0, "scored": 3, "rounds": []}
    for step in (1, 2):
        told = client.post("/step", json=body | {"action": SHILLS}).json()
        arena = client.get("/api/arena", params=body).json()
        rounds = arena["rounds"]
        assert arena["step"] == step
        assert [each["number"] for each in rounds] == [
            3 + 5 * step - back for back in range(4, -1, -1)
        ]
        mean = sum(each["scores"]["composite"] for each in rounds[-arena["scored"] :]) / 3
        assert mean == pytest.approx(told["reward"])
        seen = told["observation"]["market_outcomes"][-5:]
        assert [each["price"] for each in rounds] == [each["clearing_price"] for each in seen]
    assert all(len(each["bids"]) == 8 and each["reserve"] == 0.2 for each in rounds)
    assert 0 < sum(sum(each["delivered"]) for each in rounds) <= 15


def test_the_reveal_names_types_and_the_owners_of_false_names(client) -> None:
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
