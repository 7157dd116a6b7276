"""Bodies and messages that cannot be read: the sender is told why, and the session goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient, WebSocketTestSession

from daedalus.service.http.unreadable import envelope_problem, json_problem
from tests.service.conftest import JSON_BODY
from tests.service.generated import JSON, seeded

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


def send(socket: WebSocketTestSession, frame: str | bytes) -> dict[str, Any]:
    if isinstance(frame, bytes):
        socket.send_bytes(frame)
    else:
        socket.send_text(frame)
    return json.loads(socket.receive_text())


@pytest.mark.parametrize("name", REFUSED)
def test_a_message_that_cannot_be_read_costs_nothing(client: TestClient, name: str) -> None:
    with client.websocket_connect("ws://localhost/ws") as socket:
        send(socket, '{"type": "reset", "data": {"seed": 7}}')
        step = send(socket, '{"type": "step", "data": {}}')
        answer = send(socket, REFUSED[name])
        assert answer["type"] == "error" and answer["data"]["code"] == "VALIDATION_ERROR", answer
        assert not [word for word in INTERNALS if word in answer["data"]["message"]]
        state = send(socket, '{"type": "state"}')["data"]
        assert (state["seed"], state["rewards"]) == (7, [step["data"]["reward"]])


def test_other_mistakes_are_left_to_openenv(client: TestClient) -> None:
    with client.websocket_connect("ws://localhost/ws") as socket:
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


KINDS = st.sampled_from(["reset", "step", "state", "mcp"]) | JSON
OPTIONS = st.sampled_from(["self", "seed", "episode_id", "action", "auction_type", "options"])
DATA = st.dictionaries(OPTIONS | st.text(max_size=8), JSON, max_size=3) | JSON
ENVELOPES = st.fixed_dictionaries({}, optional={"type": KINDS, "data": DATA, "x": JSON})


@pytest.mark.slow
def test_no_message_ends_the_session(client: TestClient) -> None:
    with client.websocket_connect("ws://localhost/ws") as socket:

        @seeded(300)
        @given(message=ENVELOPES | JSON)
        def every(message: Any) -> None:
            answer = send(socket, json.dumps(message))
            assert answer.get("data", {}).get("code") != "SESSION_ERROR", answer

        every()
        assert send(socket, '{"type": "state"}')["type"] == "state"


BROKEN: dict[str, tuple[bytes, str]] = {
    "a second comma": (b'{"seed": 1,\n "n_agents": 8,,}', "key must be a string at line 2 column"),
    "cut": (b'{"seed": 1', "EOF while parsing an object at line 1 column 10"),
    "more than one": (b'{"seed": 1} x', "trailing characters at line 1 column 13"),
    "a long number": (b'{"seed": ' + b"9" * 5000 + b"}", "number out of range at line 1 column"),
    "too deep": (b'{"seed":\n' + b"[" * 9000, "recursion limit exceeded at line 2 column 20"),
    "no text": (b'{"seed": "\xff"}', "invalid unicode code point at line 1 column 11"),
}


@pytest.mark.parametrize("path", ["/reset", "/step", "/api/design", "/mcp"])
@pytest.mark.parametrize("name", BROKEN)
def test_a_body_that_cannot_be_read_gets_the_reason_and_the_place(client, path, name) -> None:
    body, reason = BROKEN[name]
    answer = client.post(path, content=body, headers=JSON_BODY)
    assert answer.status_code == 422, answer.text
    (problem,) = answer.json()["detail"]
    assert problem["field"] == "body" and problem["value"] is None
    assert problem["allowed"].startswith(f"give valid JSON: {reason}")


def test_every_form_of_unicode_is_read_as_before(client) -> None:
    header = {"Content-Type": "application/json; charset=utf-16"}
    answer = client.post("/reset", content='{"seed": 1}'.encode("utf-16"), headers=header)
    assert answer.status_code == 200 and answer.json()["info"]["seed"] == 1


@pytest.mark.parametrize(
    "text", ["{}", "NaN", '"\\ud83d\\ude00"', "9" * 4000, "[" * 199 + "]" * 199, b'"\xc3\xa9"']
)
def test_a_readable_text_has_no_problem(text: str | bytes) -> None:
    assert json_problem(text) is None


def test_an_unpaired_surrogate_is_a_problem_with_a_place() -> None:
    problem = "lone leading surrogate in hex escape at line 1 column 8"
    assert json_problem('{"\\udc00": 1}') == problem
