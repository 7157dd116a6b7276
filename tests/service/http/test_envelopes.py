"""Messages of a WebSocket that cannot be read: each gets an error, and the session goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient, WebSocketTestSession

from daedalus.service.http.app import create_app
from daedalus.service.http.envelopes import envelope_problem
from daedalus.service.settings import ServiceSettings
from tests.service.generated import seeded

DEEP = "[" * 900 + "]" * 900
REFUSED: dict[str, str | bytes] = {
    "a list": "[1]",
    "null": "null",
    "a binary frame": b"\x00\x01",
    "JSON in a binary frame": b'{"type": "state"}',
    "a long number": "9" * 5000,
    "a long number inside": f'{{"type": "reset", "data": {{"seed": {"9" * 5000}}}}}',
    "deep JSON": "[" * 60_000,
    "deep JSON inside": f'{{"type": "reset", "data": {{"episode_id": {DEEP}}}}}',
    "an unpaired surrogate": '{"type": "reset", "data": {"episode_id": "\\ud800"}}',
    "an unpaired surrogate as a key": '{"type": "state", "\\udc00": 1}',
    "an option named self": '{"type": "reset", "data": {"self": 1}}',
    "an unknown option": '{"type": "reset", "data": {"timeout_s": 1}}',
    "data that are no object": '{"type": "reset", "data": [1]}',
    "no data": '{"type": "step"}',
}
INTERNALS = ("Error", "object has no", "DaedalusEnvironment", "argument", "sys.", "codec", "'text'")


@pytest.fixture(scope="module")
def client(catalogue: Any) -> TestClient:
    settings = ServiceSettings(port=0, max_body_bytes=100_000)
    return TestClient(create_app(settings, catalogue, None), "http://localhost")


def begun(client: TestClient) -> WebSocketTestSession:
    return client.websocket_connect("ws://localhost/ws")


def send(socket: WebSocketTestSession, frame: str | bytes) -> dict[str, Any]:
    if isinstance(frame, bytes):
        socket.send_bytes(frame)
    else:
        socket.send_text(frame)
    return json.loads(socket.receive_text())


@pytest.mark.parametrize("name", REFUSED)
def test_a_message_that_cannot_be_read_costs_nothing(client: TestClient, name: str) -> None:
    with begun(client) as socket:
        send(socket, '{"type": "reset", "data": {"seed": 7}}')
        step = send(socket, '{"type": "step", "data": {}}')
        answer = send(socket, REFUSED[name])
        assert answer["type"] == "error" and answer["data"]["code"] == "VALIDATION_ERROR", answer
        assert not [word for word in INTERNALS if word in answer["data"]["message"]]
        state = send(socket, '{"type": "state"}')["data"]
        assert (state["seed"], state["rewards"]) == (7, [step["data"]["reward"]])


def test_other_mistakes_are_left_to_openenv(client: TestClient) -> None:
    with begun(client) as socket:
        assert send(socket, "{")["data"]["code"] == "INVALID_JSON"
        assert send(socket, '{"type": 5}')["data"]["code"] == "UNKNOWN_TYPE"
        assert send(socket, '{"type": "state"}')["type"] == "state"


def test_a_refusal_says_what_to_send() -> None:
    binary = envelope_problem({"type": "websocket.receive", "bytes": b"{}"})
    assert binary is not None and '{"type": "state"} as text' in binary
    nested = '{"a":' * 999 + "0" + "}" * 999
    deep = envelope_problem({"type": "websocket.receive", "text": nested})
    assert deep is not None and deep.startswith("recursion limit exceeded at line 1 column ")
    assert envelope_problem({"type": "websocket.disconnect"}) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
KINDS = st.sampled_from(["reset", "step", "state", "mcp"]) | JSON
OPTIONS = st.sampled_from(["self", "seed", "episode_id", "action", "auction_type", "options"])
DATA = st.dictionaries(OPTIONS | st.text(max_size=8), JSON, max_size=3) | JSON
ENVELOPES = st.fixed_dictionaries({}, optional={"type": KINDS, "data": DATA, "x": JSON})


def test_no_message_ends_the_session(client: TestClient) -> None:
    with begun(client) as socket:

        @seeded(300)
        @given(message=ENVELOPES | JSON)
        def every(message: Any) -> None:
            answer = send(socket, json.dumps(message))
            assert answer.get("data", {}).get("code") != "SESSION_ERROR", answer

        every()
        assert send(socket, '{"type": "state"}')["type"] == "state"
