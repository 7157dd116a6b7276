"""The designer routes: a designer is asked by name."""

from __future__ import annotations

from daedalus.designers.random import RandomDesigner

EPISODE = {"session_id": "watched", "seed": 5, "population": "stage4"}


def test_another_designer_can_be_asked(reach) -> None:
    client = reach(designers={"random": RandomDesigner()})
    client.post("/reset", json=EPISODE)
    ask = {"session_id": "watched", "designer": "random"}
    first, second = (client.post("/api/design", json=ask).json() for _ in range(2))
    assert first["source"] == "rule" and first["mechanism"] == second["mechanism"]
    client.post("/step", json={"session_id": "watched", "action": {}})
    assert client.post("/api/design", json=ask).json()["mechanism"] != first["mechanism"]
    wrong = client.post("/api/design", json={"designer": "oracle"})
    assert wrong.status_code == 422
    assert wrong.json()["detail"][0]["allowed"] == "choose one of trained, random"
