"""The names of the service: under any other name it does not answer."""

from __future__ import annotations

import json
import socket
from urllib.parse import urlsplit

import pytest
import requests
from starlette.testclient import WebSocketDenialResponse
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

FOREIGN = {"Host": "evil.example:8000", "Origin": "http://evil.example:8000"}
OWN = ["localhost", "LOCALHOST:8000", "127.0.0.1:8000", "192.168.1.5", "[::1]:8000", "[fe80::1]"]
STRANGE = ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example"]
STRANGE += ["127.0.0.1@evil.example", "[evil.example]", "evil.example#localhost", "\x00", "é", ""]


def test_a_name_bound_to_this_machine_by_its_owner_gets_no_answer(address: str) -> None:
    for method, path in (
        ("POST", "/reset"),
        ("POST", "/api/design"),
        ("GET", "/api/training"),
        ("GET", "/"),
        ("GET", "/page/style.css"),
        ("GET", "/openapi.json"),
    ):
        answer = requests.request(method, address + path, headers=FOREIGN, json={})
        assert answer.status_code == 400
        assert answer.json()["error"] == (
            "Host: 'evil.example:8000' is not a name of this service; add it to service.hosts"
        )
    place = urlsplit(address)
    sock = socket.create_connection((place.hostname, place.port))
    with pytest.raises(InvalidStatus) as caught, connect("ws://evil.example/ws", sock=sock):
        pytest.fail("the WebSocket was accepted")
    assert caught.value.response.status_code == 400
    assert "service.hosts" in json.loads(caught.value.response.body)["error"]


def test_its_own_names_and_every_address_are_served(reach) -> None:
    client = reach()
    for host in OWN:
        assert client.get("/health", headers={"Host": host}).status_code == 200, host
        with client.websocket_connect("/ws", headers={"Host": host}) as socket:
            socket.send_json({"type": "state"})
            assert socket.receive_json()["type"] == "state"
    for host in STRANGE:
        assert client.get("/health", headers={"Host": host.encode()}).status_code == 400, host


def test_the_settings_add_names(reach) -> None:
    client = reach(hosts=["market.example", "*.hf.space"])
    for host, status in (
        ("market.example", 200),
        ("me-daedalus.hf.space", 200),
        ("a.market.example", 400),
        ("localhost", 400),
        ("hf.space.evil.example", 400),
    ):
        assert client.get("/health", headers={"Host": host}).status_code == status, host
    with (
        pytest.raises(WebSocketDenialResponse),
        client.websocket_connect("/ws", headers={"Host": "localhost"}),
    ):
        pytest.fail("the WebSocket was accepted")
    assert reach(hosts=["*"]).get("/health", headers=FOREIGN).status_code == 200
