"""The refusals: each names the field, its value, and what is allowed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from daedalus.market.mechanism import FIELDS
from daedalus.service.http.app import create_app
from daedalus.service.settings import ServiceSettings

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


def test_a_measured_number_out_of_range_gets_its_range(reach) -> None:
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


def test_a_body_that_cannot_be_read_gets_a_reason(reach) -> None:
    client = reach()
    json_header = {"Content-Type": "application/json"}
    (broken,) = client.post("/reset", content=b"{bad", headers=json_header).json()["detail"]
    assert broken["field"] == "body" and broken["value"] is None
    assert broken["allowed"] == "give valid JSON: key must be a string at line 1 column 2"
    plain = {"Content-Type": "text/plain"}
    (unsaid,) = client.post("/reset", content=b"{}", headers=plain).json()["detail"]
    assert unsaid["field"] == "Content-Type" and unsaid["value"] == "text/plain"
    assert "application/json" in unsaid["allowed"]


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
    return TestClient(app, "http://localhost", raise_server_exceptions=False)


@settings(max_examples=30, deadline=None)
@given(body=BODIES, path=st.sampled_from(["/reset", "/step", "/api/design", "/mcp"]))
def test_no_body_breaks_the_service(hardy: TestClient, body: str, path: str) -> None:
    headers = {"Content-Type": "application/json"}
    answer = hardy.post(path, content=body.encode("utf-8", "replace"), headers=headers)
    assert answer.status_code < 500 or answer.headers.get("Retry-After")
    assert "Traceback" not in answer.text
