"""The session API: the published script, seeds, and sessions that run out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from daedalus.env import DesignEnv
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


def test_resets_without_steps_shut_nobody_out(reach) -> None:
    client = reach(http_sessions=4)
    for _ in range(20):
        assert client.post("/reset", json={}).status_code == 200
    newcomer = {"session_id": "newcomer"}
    assert client.post("/reset", json=newcomer).status_code == 200
    assert client.post("/step", json=newcomer | {"action": {}}).status_code == 200
    for _ in range(20):
        assert client.post("/reset", json={}).status_code == 200
    assert client.get("/state", params=newcomer).json()["step_count"] == 1


def test_a_failed_reset_takes_no_place(reach) -> None:
    client = reach()
    for _ in range(4):
        assert client.post("/reset", json={"n_agents": 1}).status_code == 422
    assert client.post("/reset", json={}).status_code == 200
