"""The session API: the published script, what is refused and how, places that run out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from daedalus.env import DesignEnv
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.market.seeds import market_seeds
from daedalus.service.http.app import create_app
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.sessions.store import CapacityError, SessionStore, UnknownSessionError
from daedalus.service.settings import ServiceSettings
from tests.populations import population


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


@pytest.mark.parametrize("rules", ["strategic", "classic"])
def test_a_session_is_the_environment_of_its_seed(reach, rules: str) -> None:
    client = reach()
    begin = {"seed": 7, "population": "stage4", "market": rules, "session_id": "a", "n_agents": 12}
    client.post("/reset", json=begin)
    answers = [
        client.post("/step", json={"session_id": "a", "action": {"reserve_price": 0.2}}).json()
        for _ in range(3)
    ]
    market = MarketSettings(rules=rules)
    env = DesignEnv.of(market, population(4, bidders=12))
    env.reset(market_seeds(7, "service", 1))
    rewards = [
        env.step(Mechanisms.stack([Mechanism(reserve_price=0.2)])).reward[0] for _ in range(3)
    ]
    assert [each["reward"] for each in answers] == pytest.approx(rewards)
    state = client.get("/state", params={"session_id": "a"}).json()
    assert state["rewards"] == pytest.approx(rewards)
    assert (state["step_count"], state["n_agents"], state["seed"]) == (3, 12, 7)
    assert state["scores"]["composite"] == pytest.approx(rewards[-1])


def test_a_drawn_seed_is_told_and_repeats_the_episode(reach) -> None:
    client = reach()
    first = client.post("/reset", json={}).json()
    again = client.post("/reset", json={"seed": first["info"]["seed"]}).json()
    assert again["observation"] == first["observation"]
    assert again["session_id"] != first["session_id"]


WRONG: list[tuple[str, Any, str, str]] = [
    ("/step", {"action": {"reserve_price": 1.5}}, "action.reserve_price", "from 0.0 to 0.9"),
    ("/step", {"action": {"reserve_price": True}}, "action.reserve_price", "from 0.0 to 0.9"),
    ("/step", {"action": {"shill_penalty": -1}}, "action.shill_penalty", "from 0.0 to 3.0"),
    ("/step", {"action": {"auction_type": "dutch"}}, "action.auction_type", "'second_price'"),
    ("/step", {"action": {"reveal_reserve": "yes"}}, "action.reveal_reserve", "boolean"),
    ("/step", {"action": {"reserve": 0.1}}, "action.reserve", "no such field"),
    ("/step", {}, "action", "required"),
    ("/reset", {"population": "stage9"}, "population", "'stage4'"),
    ("/reset", {"market": "/etc/passwd"}, "market", "'classic'"),
    ("/reset", {"n_agents": 7}, "n_agents", "from 8 to 64"),
    ("/reset", {"n_agents": 8.5}, "n_agents", "from 8 to 64"),
    ("/reset", {"episode_length": 51}, "episode_length", "from 1 to 50"),
    ("/reset", {"seed": -1}, "seed", "from 0 to"),
    ("/reset", {"session_id": "../a"}, "session_id", "pattern"),
    ("/reset", {"checkpoint": "x"}, "checkpoint", "no such field"),
    ("/api/design", {"round_number": "1"}, "round_number", "from 0 to"),
    ("/api/design", {"model": "x"}, "model", "no such field"),
]


@pytest.mark.parametrize(("path", "body", "field", "allowed"), WRONG)
def test_what_is_wrong_is_named(reach, path: str, body: Any, field: str, allowed: str) -> None:
    client = reach()
    client.post("/reset", json={"session_id": "a"})
    answer = client.post(path, json={"session_id": "a"} | body if path == "/step" else body)
    assert answer.status_code == 422
    problem = answer.json()["detail"][0]
    value = body
    for name in field.split("."):
        value = value.get(name)
        if value is None:
            break
    assert (problem["field"], problem["value"]) == (field, value)
    assert allowed in problem["allowed"]
    assert client.get("/state", params={"session_id": "a"}).json()["step_count"] == 0


def test_unknown_sessions_and_paths_are_404(reach) -> None:
    client = reach()
    step = {"session_id": "nobody", "action": {}}
    for answer in (
        client.post("/step", json=step),
        client.get("/state", params={"session_id": "nobody"}),
        client.post("/api/design", json={"session_id": "nobody"}),
        client.get("/nowhere"),
        client.get("/daedalus/splits"),
    ):
        assert answer.status_code == 404
        assert answer.json()["error"]


def test_places_run_out_and_a_living_session_keeps_its_own(reach) -> None:
    client = reach()
    for name in ("a", "b", "a"):
        assert client.post("/reset", json={"session_id": name}).status_code == 200
    answer = client.post("/reset", json={"session_id": "c"})
    assert answer.status_code == 503
    assert 1 <= int(answer.headers["Retry-After"]) <= 120
    assert client.post("/step", json={"session_id": "a", "action": {}}).status_code == 200


def test_idle_sessions_give_their_place_away(catalogue) -> None:
    now = [0.0]
    store = SessionStore(lambda: DaedalusEnvironment(catalogue), 2, 10.0, 10.0, lambda: now[0])
    store.reset("old", {})
    now[0] = 6.0
    store.reset("young", {})
    with pytest.raises(CapacityError) as caught:
        store.reset("third", {})
    assert caught.value.retry_after == pytest.approx(4.0)
    now[0] = 10.5
    store.reset("third", {})
    assert len(store) == 2
    with pytest.raises(UnknownSessionError, match="10 seconds"):
        store.get("old")
    now[0] = 15.0
    store.get("young")  # using it keeps it
    now[0] = 24.0
    store.get("young")


def test_a_session_that_was_left_gives_way_when_every_place_is_taken(catalogue) -> None:
    now = [0.0]
    store = SessionStore(lambda: DaedalusEnvironment(catalogue), 2, 100.0, 10.0, lambda: now[0])
    store.reset("left", {})
    now[0] = 50.0
    store.get("left")  # nobody wants its place
    store.reset("used", {})
    now[0] = 59.0
    store.get("used")
    with pytest.raises(CapacityError) as caught:
        store.reset("third", {})
    assert caught.value.retry_after == pytest.approx(1.0)
    now[0] = 60.5
    store.reset("third", {})
    store.get("used")
    with pytest.raises(UnknownSessionError, match="10 if others wait"):
        store.get("left")
    assert len(store) == 2


def test_a_failed_reset_takes_no_place(reach) -> None:
    client = reach()
    for _ in range(4):
        assert client.post("/reset", json={"n_agents": 1}).status_code == 422
    assert client.post("/reset", json={}).status_code == 200


def test_long_bodies_are_turned_away(reach) -> None:
    client = reach(max_body_bytes=2000)
    assert client.post("/reset", content=b" " * 2001).status_code == 413

    def chunks():
        for _ in range(1000):
            yield b" " * 100

    assert client.post("/reset", content=chunks()).status_code == 413
    assert client.post("/reset", json={}).status_code == 200


def test_pages_of_other_origins_may_not_act_unless_configured(reach) -> None:
    friend, stranger = {"Origin": "https://friend.example"}, {"Origin": "https://evil.example"}
    client = reach(cors_origins=["https://friend.example"], http_sessions=9)
    assert client.post("/reset", json={}, headers=stranger).status_code == 403
    assert client.post("/reset", json={}, headers={"Origin": "http://localhost:8000"}).is_success
    answer = client.post("/reset", json={}, headers=friend)
    assert answer.headers["access-control-allow-origin"] == "https://friend.example"
    asked = {"Access-Control-Request-Method": "POST"}
    asked |= {"Access-Control-Request-Headers": "content-type"}
    for path in ("/reset", "/step", "/api/design"):
        assert client.options(path, headers=friend | asked).is_success
        assert not client.options(path, headers=stranger | asked).is_success
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ws", headers=stranger):
        pytest.fail("a stranger's page may connect")
    with client.websocket_connect("/ws", headers=friend) as socket:
        socket.send_json({"type": "state"})
        assert socket.receive_json()["type"] == "state"
    closed = reach().get("/health", headers=friend)
    assert "access-control-allow-origin" not in closed.headers


def test_a_measured_number_out_of_range_is_told_its_range(reach) -> None:
    client = reach()
    wrong = {"welfare": 55.0, "clearing_price": -4, "revenue": "much"}
    refused = client.post("/api/design", json={"market_outcomes": [wrong]})
    assert refused.status_code == 422
    assert {
        each["field"]: (each["value"], each["allowed"]) for each in refused.json()["detail"]
    } == {
        "market_outcomes.0.welfare": (55.0, "give a number from 0 to 1, or null"),
        "market_outcomes.0.clearing_price": (-4, "give a finite number of at least 0, or null"),
        "market_outcomes.0.revenue": ("much", "give a finite number, or null"),
    }
    rounded = {"welfare": 1.0 + 1e-9, "clearing_price": None}
    assert client.post("/api/design", json={"market_outcomes": [rounded]}).status_code == 200


def test_a_body_that_cannot_be_read_is_told_why(reach) -> None:
    client = reach()
    json_header = {"Content-Type": "application/json"}
    (broken,) = client.post("/reset", content=b"{bad", headers=json_header).json()["detail"]
    assert broken["field"] == "body" and broken["value"] is None
    assert broken["allowed"].endswith("at character 1")
    plain = {"Content-Type": "text/plain"}
    (unsaid,) = client.post("/reset", content=b"{}", headers=plain).json()["detail"]
    assert unsaid["field"] == "Content-Type" and unsaid["value"] == "text/plain"
    assert "application/json" in unsaid["allowed"]


def test_mcp_has_no_tools_and_opens_no_session(reach) -> None:
    client = reach()
    for number in range(9):
        create = {"jsonrpc": "2.0", "id": number, "method": "openenv/session/create"}
        answer = client.post("/mcp", json=create).json()
        assert answer["id"] == number and answer["error"]["code"] == -32601
    assert client.app.state.openenv.active_sessions == 0


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
BODIES = st.one_of(
    JSON.map(json.dumps),
    st.dictionaries(st.sampled_from([*FIELDS, "metadata"]), JSON, max_size=3).map(
        lambda action: json.dumps({"session_id": "a", "action": action})
    ),
    st.sampled_from(["", "{", "[" * 20_000, "9" * 5000, '"\\ud800"', '{"seed": 1e999}', "NaN"]),
)


@pytest.fixture(scope="module")
def hardy(catalogue) -> TestClient:
    app = create_app(ServiceSettings(port=0, http_sessions=2), catalogue, None)
    return TestClient(app, raise_server_exceptions=False)


@settings(max_examples=30, deadline=None)
@given(body=BODIES, path=st.sampled_from(["/reset", "/step", "/api/design", "/mcp"]))
def test_no_body_breaks_the_service(hardy: TestClient, body: str, path: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = hardy.post(path, content=body.encode("utf-8", "replace"), headers=headers)
    assert answer.status_code < 500 or answer.headers.get("Retry-After")
    assert "Traceback" not in answer.text


def test_the_schemas_are_those_of_our_types(reach) -> None:
    schemas = reach().get("/schema").json()
    assert set(FIELDS) < set(schemas["action"]["properties"])
    assert schemas["action"]["properties"]["reserve_price"]["maximum"] == 0.9
    assert "market_outcomes" in schemas["observation"]["properties"]
    assert {"seed", "population", "rewards"} < set(schemas["state"]["properties"])


def test_behind_a_proxy_that_ends_https_only_the_own_page_may_act(reach) -> None:
    client, host = reach(), "me-daedalus.hf.space"
    own = {"Host": host, "Origin": f"https://{host}"}
    assert client.post("/reset", json={}, headers=own).is_success
    with client.websocket_connect("/ws", headers=own) as socket:
        socket.send_json({"type": "state"})
        assert socket.receive_json()["type"] == "state"
    for headers in (own | {"Origin": "https://evil.example"}, own | {"Host": "127.0.0.1:7860"}):
        assert client.post("/reset", json={}, headers=headers).status_code == 403
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ws", headers=headers):
            pytest.fail("a stranger's page may connect")
