"""The refusals: each names the field, its value, and what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

WRONG: list[tuple[str, Any, str, str]] = [
    ("/step", {"action": {"reserve_price": 1.5}}, "action.reserve_price", "from 0.0 to 0.9"),
    ("/step", {"action": {"auction_type": "dutch"}}, "action.auction_type", "'second_price'"),
    ("/step", {"action": {"reveal_reserve": "yes"}}, "action.reveal_reserve", "boolean"),
    ("/step", {"action": {"reserve": 0.1}}, "action.reserve", "no such field"),
    ("/step", {}, "action", "required"),
    ("/reset", {"population": "stage9"}, "population", "'stage4'"),
    ("/reset", {"market": "/etc/passwd"}, "market", "'classic'"),
    ("/reset", {"n_agents": 8.5}, "n_agents", "from 8 to 64"),
    ("/reset", {"episode_length": 51}, "episode_length", "from 1 to 50"),
    ("/reset", {"seed": -1}, "seed", "from 0 to"),
    *(
        ("/reset", {"session_id": name}, "session_id", "pattern")
        for name in ("", "a" * 65, "../a", "a b", "a\n")
    ),
    ("/reset", {"allowed": 3}, "allowed", "dictionary"),
    ("/reset", {"checkpoint": "x"}, "checkpoint", "no such field"),
    ("/api/design", {"round_number": "1"}, "round_number", "from 0 to"),
    ("/api/design", {"model": "x"}, "model", "no such field"),
    ("/api/design", {"designer": "/etc/passwd"}, "designer", "pattern"),
]


@pytest.mark.parametrize(("path", "body", "field", "allowed"), WRONG)
def test_what_is_wrong_is_named(client, path: str, body: Any, field: str, allowed: str) -> None:
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


def test_unknown_sessions_and_paths_are_404(client) -> None:
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


def test_every_wrong_number_is_told_of(client) -> None:
    wrong = {"welfare": 55.0, "clearing_price": -4}
    refused = client.post("/api/design", json={"market_outcomes": [wrong]})
    fields = {each["field"]: each["allowed"] for each in refused.json()["detail"]}
    assert fields == {
        "market_outcomes.0.welfare": "give a number from 0 to 1, or null",
        "market_outcomes.0.clearing_price": "give a finite number of at least 0, or null",
    }


def test_a_body_that_is_not_said_to_be_json_is_not_read(client) -> None:
    plain = {"Content-Type": "text/plain"}
    (unsaid,) = client.post("/reset", content=b"{}", headers=plain).json()["detail"]
    assert unsaid["field"] == "Content-Type" and unsaid["value"] == "text/plain"
    assert "application/json" in unsaid["allowed"]
