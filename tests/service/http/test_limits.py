"""The limits: long bodies and pages of other origins are refused."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

import pytest
from starlette.websockets import WebSocketDisconnect


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
    websocket = "ws://localhost:8000/ws"
    with pytest.raises(WebSocketDisconnect), client.websocket_connect(websocket, headers=stranger):
        pytest.fail("a stranger's page may connect")
    with client.websocket_connect(websocket, headers=friend) as socket:
        socket.send_json({"type": "state"})
        assert socket.receive_json()["type"] == "state"
    closed = reach().get("/health", headers=friend)
    assert "access-control-allow-origin" not in closed.headers


def test_behind_a_proxy_that_ends_https_only_the_own_page_may_act(reach) -> None:
    host = "me-daedalus.hf.space"
    client = reach(hosts=[host])
    own = {"Host": host, "Origin": f"https://{host}"}
    assert client.post("/reset", json={}, headers=own).is_success
    with client.websocket_connect("/ws", headers=own) as socket:
        socket.send_json({"type": "state"})
        assert socket.receive_json()["type"] == "state"
    for headers in (own | {"Origin": "https://evil.example"}, own | {"Host": "127.0.0.1:7860"}):
        assert client.post("/reset", json={}, headers=headers).status_code == 403
        with pytest.raises(WebSocketDisconnect), client.websocket_connect("/ws", headers=headers):
            pytest.fail("a stranger's page may connect")


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("size", [70_000, 700_000, 30_000_000])
def test_a_client_that_sends_its_whole_body_first_reads_why_it_was_refused(
    address: str, size: int, chunked: bool
) -> None:
    place, body = urlsplit(address), b" " * size
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % size
    head = b"POST /reset HTTP/1.1\r\nHost: localhost\r\n" + length + b"\r\n\r\n"
    with socket.create_connection((place.hostname, place.port), timeout=9) as sock:
        sock.sendall(head + (b"%x\r\n%b\r\n0\r\n\r\n" % (size, body) if chunked else body))
        answer = b"".join(iter(lambda: sock.recv(65_536), b""))
    assert answer.startswith(b"HTTP/1.1 413") and b"longer than 65536 bytes" in answer
