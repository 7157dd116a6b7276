"""Documents that never change: each is built once, and every visitor gets the same."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from daedalus.service.http.built_once import BuiltOnce
from daedalus.service.openenv.messages import DaedalusAction


def test_an_answer_is_built_once_and_only_for_its_path_and_method() -> None:
    asked: list[str] = []

    async def app(scope, receive, send) -> None:
        asked.append(f"{scope['method']} {scope['path']}")
        await send({"type": "http.response.start", "status": 200, "headers": [(b"x-a", b"b")]})
        await send({"type": "http.response.body", "body": b"built"})

    client = TestClient(BuiltOnce(app, ["/document"]))
    for _ in range(3):
        answer = client.get("/document")
        assert (answer.text, answer.headers["x-a"]) == ("built", "b")
    for _ in range(2):
        client.get("/other")
        client.post("/document")
    assert asked == ["GET /document"] + ["GET /other", "POST /document"] * 2


def test_an_answer_that_failed_is_not_kept() -> None:
    failures = [OSError("busy")]

    async def app(scope, receive, send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if failures:
            raise failures.pop()
        await send({"type": "http.response.body", "body": b"built"})

    client = TestClient(BuiltOnce(app, ["/document"]))
    with pytest.raises(OSError, match="busy"):
        client.get("/document")
    assert client.get("/document").text == "built"


def test_the_schemas_are_built_once(reach, monkeypatch: pytest.MonkeyPatch) -> None:
    client, built = reach(cors_origins=["https://friend.example"]), []
    build = DaedalusAction.model_json_schema
    monkeypatch.setattr(DaedalusAction, "model_json_schema", lambda: built.append(1) or build())
    first = client.get("/schema")
    friendly = client.get("/schema", headers={"Origin": "https://friend.example"})
    again = client.get("/schema")
    assert first.content == friendly.content == again.content and len(built) == 1
    assert friendly.headers["access-control-allow-origin"] == "https://friend.example"
    assert "access-control-allow-origin" not in again.headers
    assert client.get("/openapi.json").json()["info"]["title"] == "Daedalus"
    assert client.head("/schema").headers["content-length"] == str(len(first.content))
