"""A refusal has the form of all errors, over HTTP and in the handshake of a WebSocket."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient, WebSocketDenialResponse

from daedalus.service.http.refusals import turn_away


async def closed(scope: Any, receive: Any, send: Any) -> None:
    await turn_away(503, "closed on Sundays", scope, receive, send, {"Retry-After": "9"})


def test_a_request_and_a_handshake_get_the_reason() -> None:
    client = TestClient(closed)
    answer = client.get("/anything")
    with pytest.raises(WebSocketDenialResponse) as caught, client.websocket_connect("/ws"):
        pytest.fail("the handshake was accepted")
    for each in (answer, caught.value):
        assert each.status_code == 503 and each.headers["Retry-After"] == "9"
        assert each.headers["Connection"] == "close"
        assert json.loads(each.content) == {"error": "closed on Sundays", "detail": []}
