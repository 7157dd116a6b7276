"""Attacks on a running server: other clients are served, and nothing is left behind."""

from __future__ import annotations

import json
import logging
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import connect

from daedalus.service.http.connections import MAX_PIPELINED
from daedalus.service.load.service_process import ServiceProcess, Usage
from daedalus.service.settings import ServiceSettings
from tests.service.conftest import dial, exchanged, serving

SETTINGS: dict[str, Any] = {
    "port": 0,
    "http_sessions": 6,
    "websocket_sessions": 6,
    "connections": 30,
    "request_timeout": 0.5,
    "answer_timeout": 1.0,
    "websocket_ping": 1.0,
    "session_timeout": 2.0,
    "design_timeout": 0.5,
}
BEGIN = {"seed": 11, "population": "stage4", "n_agents": 9, "episode_length": 50}
NOTHING = Usage(0, 0, 10**6, 0.0, 0.0)
"""No sessions: what a server holds once earlier ones are over."""
FOREIGN_ERRORS = (OSError, ConnectionClosed, InvalidHandshake, EOFError)


class Served(ServiceProcess):
    """The attacked server, with its log."""

    def __init__(self, catalogue: Any, folder: Path, **changes: Any) -> None:
        self.log = folder / "log"
        super().__init__(ServiceSettings(**SETTINGS | changes), catalogue, self.log)

    def reach(self) -> socket.socket:
        return dial(self.address, timeout=10)

    def websocket(self, **options: Any) -> Any:
        return connect(self.address.replace("http", "ws") + "/ws", **options)


@pytest.fixture(scope="module")
def served(catalogue: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(catalogue, tmp_path_factory.mktemp("served")) as server:
        server.alone = episode(server)  # the episode of a bystander without attacks
        yield server


def episode(server: Served, pause: float = 0.0) -> list[Any]:
    """Play an episode and return every answer; none may be slower than a second or two.

    Each request has a connection of its own: the server may close one that waits for half a second,
    and on a busy machine a bystander may be that late.
    """
    name = f"bystander-{time.time_ns()}"
    begin = requests.post(f"{server.address}/reset", json=BEGIN | {"session_id": name}, timeout=5)
    answers = [begin.json()["observation"]]
    for step in range(12):
        time.sleep(pause)
        action = {"reserve_price": 0.02 * step}
        body = {"session_id": name, "action": action}
        answer = requests.post(f"{server.address}/step", json=body, timeout=5)
        assert answer.status_code == 200, answer.text
        answers.append(answer.json())
    return answers


def settled(server: Served, before: Usage, seconds: float = 12.0) -> Usage:
    """Wait until no more is held than before."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        usage = server.usage()
        if usage.websocket_sessions <= before.websocket_sessions and (
            usage.http_sessions <= before.http_sessions and usage.descriptors <= before.descriptors
        ):
            return usage
        time.sleep(0.05)
    pytest.fail(f"held before: {before}, and now: {usage}")


def sent(server: Served, data: bytes, linger: float = 3.0) -> bytes:
    """Send bytes, and return what comes back until the server closes or says nothing more."""
    received = b""
    with dial(server.address, timeout=10) as sock:
        with suppress(OSError):  # it may close before it has all
            sock.sendall(data)
        sock.settimeout(linger)
        with suppress(OSError):
            while part := sock.recv(65_536):
                received += part
    return received


HEAD = b"POST /step HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n"
)


def halves(server: Served) -> None:
    """Begin requests, or say nothing, on many connections, and wait for the server to end them."""
    for data, answer in (
        (HEAD, b" 408 "),
        (HEAD + b"Content-Length: 9\r\n\r\n{", b" 408 "),
        (b"", b""),
    ):
        socks = [server.reach() for _ in range(20)]
        for sock in socks:
            sock.sendall(data)
        for sock in socks:
            told = sock.recv(1000)
            assert answer in told and bool(answer) == bool(told)
            sock.close()


def dripping(server: Served) -> None:
    """Send blank lines, a head and a body a byte at a time, each byte in good time."""
    for begun, rest in (
        (b"", b"\r\n" * 50),
        (HEAD + b"X: ", b"y" * 100),
        (HEAD + b"Content-Length: 100\r\n\r\n", b" " * 100),
    ):
        with server.reach() as sock, suppress(OSError):
            sock.sendall(begun)
            for byte in range(len(rest)):
                sock.sendall(rest[byte : byte + 1])
                time.sleep(0.02)
            pytest.fail("dripped for two seconds")


def resets(server: Served) -> None:
    """Abort connections in the middle of whatever they did."""
    body = json.dumps({"session_id": "r", "action": {}}).encode()
    whole = HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
    frame = masked(b'{"type":"reset","data":{}}')
    steps = [whole, whole * 5, whole[:-3], HEAD, UPGRADE, UPGRADE + b"\r\n"]
    for data in [*steps, UPGRADE + b"\r\n" + frame * 3, UPGRADE + b"\r\n" + frame[:4]]:
        for wait in (0.0, 0.01):
            sock = server.reach()
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            sock.sendall(data)
            time.sleep(wait)
            sock.close()


def long_heads(server: Served) -> None:
    assert b" 431 " in sent(server, HEAD + b"X: " + b"y" * 10_000_000)
    assert b" 431 " in sent(server, HEAD + b"X: y\r\n" * 100_000)
    assert b" 431 " in sent(server, b"GET /" + b"x" * 1_000_000)
    trailers = HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n" + b"X: y\r\n" * 1_000_000
    assert sent(server, trailers) == b""


def long_bodies(server: Served) -> None:
    assert b" 413 " in sent(server, HEAD + b"Content-Length: 900000\r\n\r\n" + b" " * 200_000)
    chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
    assert b" 413 " in sent(server, HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 2)
    bombs = (
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + (b"1;" + b"e" * 100 + b"\r\nx\r\n") * 9999
    )
    assert b" 200 " not in sent(server, bombs)


def garbage(server: Served) -> None:
    for data in (
        b"\x00" * 1000,
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 20,  # TLS
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET http://127.0.0.1:1/ HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /%00%ff%fe HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /\xff\xfe HTTP/1.1\r\nHost: \xff\r\n\r\n",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}{}{}",
        HEAD + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nZZZ\r\n",
        HEAD + b"Expect: 100-continue\r\nContent-Length: 4\r\n\r\nnull",
        HEAD + b"Content-Length: 4\r\n\r\n\xff\xfe\x00\x01",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200 + b"garbage\r\n\r\n",
        b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nG" * 20,
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
    ):
        assert b"HTTP/1.1 5" not in sent(server, data, linger=0.7), data[:80]


def masked(payload: bytes, first: int = 0x81) -> bytes:
    """Return a client's WebSocket frame; its mask is zero, so that the payload is plain."""
    long = len(payload) > 125
    length = b"\xfe" + struct.pack("!H", len(payload)) if long else bytes([0x80 | len(payload)])
    return bytes([first]) + length + b"\0\0\0\0" + payload


FRAMES: dict[str, bytes] = {
    "no UTF-8": masked(b"\xff\xfe\xfd"),
    "cut UTF-8 in fragments": masked(b"\xe2\x82", 0x01) + masked(b"", 0x80),
    "binary": masked(b"\x00\x01", 0x82),
    "no mask": b"\x81\x02{}",
    "reserved bits": masked(b"{}", 0xF1),
    "reserved opcode": masked(b"{}", 0x83),
    "continues nothing": masked(b"{}", 0x80),
    "long ping": masked(b"x" * 126, 0x89),
    "cut ping": masked(b"x", 0x09),
    "length of 2^63": b"\x81\xff" + b"\xff" * 8 + b"\0\0\0\0",
    "longer than allowed": b"\x81\xff" + struct.pack("!Q", 70_000) + b"\0\0\0\0" + b" " * 70_000,
    "many fragments": masked(b"", 0x01) + masked(b"", 0x00) * 5000,
    "half a frame": masked(b'{"type":"state"}')[:9],
    "no JSON": masked(b"{"),
    "no object": masked(b"[1]"),
    "deep": masked(b"[" * 60_000),
    "wrong close": masked(b"\x00", 0x88),
    "closed twice": masked(b"\x03\xe8", 0x88) * 2 + masked(b"{}"),
}


def broken_frames(server: Served) -> None:
    for name, data in FRAMES.items():
        answer = sent(server, UPGRADE + b"\r\n" + data, linger=0.2)
        assert answer.startswith(b"HTTP/1.1 101"), name
        assert b"Traceback" not in answer, name


def broken_handshakes(server: Served) -> None:
    lines = b"".join(b"X%d: y\r\n" % number for number in range(200))
    for data in (
        UPGRADE + b"X: " + b"y" * 20_000 + b"\r\n\r\n",
        UPGRADE + lines + b"\r\n",
        UPGRADE.replace(b"Version: 13", b"Version: 99") + b"\r\n",
        UPGRADE.replace(b"MDEyMzQ1Njc4OWFiY2RlZg==", b"short") + b"\r\n",
        UPGRADE.replace(b"/ws", b"/nowhere") + b"\r\n",
        UPGRADE.replace(b"GET", b"POST") + b"\r\n",
        UPGRADE + b"Origin: http://evil.example\r\n\r\n",
    ):
        answer = sent(server, data)
        assert b" 101 " not in answer and b"HTTP/1.1 5" not in answer, data[:150]


def deaf_websocket(server: Served) -> None:
    """Ask for answers without end and read none; nor pongs to as many pings."""
    for message in (masked(b'{"type":"state"}'), masked(b"x" * 125, 0x89)):
        sock = server.reach()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(0.3)
        sock.sendall(UPGRADE + b"\r\n" + masked(b'{"type":"reset","data":{}}'))
        memory = server.usage().memory
        flood = message * 2000
        until = time.monotonic() + 15
        with suppress(ConnectionError):
            while time.monotonic() < until:
                with suppress(TimeoutError):
                    sock.sendall(flood)
            pytest.fail("a client that does not read was kept for 15 seconds")
        assert server.usage().memory < memory + 30
        sock.close()


def deaf_http(server: Served) -> None:
    """Pipeline requests with long answers and read none."""
    request = b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    socks = [server.reach() for _ in range(5)]
    for sock in socks:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.settimeout(0.2)
        with suppress(OSError):
            for _ in range(200):
                sock.sendall(request)
                time.sleep(0.001)
    time.sleep(2.0)
    for sock in socks:
        sock.close()


def storm(server: Served) -> None:
    """Ask for many more sessions than there are, over both ways at once."""
    socks = []
    for _ in range(20):
        with suppress(*FOREIGN_ERRORS):
            socks.append(server.websocket())
    last = json.loads(socks[-1].recv())
    assert last["data"]["code"] == "CAPACITY_REACHED"
    codes: list[int] = []
    for number in range(20):
        name = f"storm-{number}"
        begin = {"seed": number, "session_id": name}
        answer = requests.post(f"{server.address}/reset", json=begin, timeout=5)
        codes.append(answer.status_code)
        assert answer.status_code == 200 or 1 <= int(answer.headers["Retry-After"]) <= 2
        step = {"session_id": name, "action": {}}  # or the session would give way at once
        requests.post(f"{server.address}/step", json=step, timeout=5)
    assert set(codes) == {200, 503}
    assert server.usage().http_sessions <= 6 and server.usage().websocket_sessions <= 6
    for sock in socks:
        sock.close()


def crowd(server: Served) -> None:
    """Open many more connections than there may be, and say nothing on any."""
    socks = []
    for _ in range(300):
        socks.append(server.reach())
        assert server.usage().descriptors < 100
    assert requests.get(f"{server.address}/health", timeout=5).status_code == 200
    for sock in socks:
        sock.close()


@pytest.fixture(scope="module")
def brief(catalogue: Any) -> Iterator[str]:
    """Answer on a socket with little patience and few places."""
    with serving(catalogue, **SETTINGS | {"request_timeout": 1.0, "connections": 7}) as address:
        yield address


@pytest.mark.slow
def test_half_a_request_is_answered_408(brief: str) -> None:
    for data in (HEAD, HEAD + b"Content-Length: 9\r\n\r\n{"):
        answer = exchanged(brief, data)
        assert answer.startswith(b"HTTP/1.1 408") and b"1 seconds" in answer
    assert exchanged(brief) == b""
    whole = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    assert exchanged(brief, whole[:9], whole[9:], pause=0.05).startswith(b"HTTP/1.1 200")


def test_silent_connections_give_way_and_busy_ones_are_kept(brief: str) -> None:
    silent = [dial(brief) for _ in range(9)]
    assert requests.get(f"{brief}/health", timeout=5).status_code == 200
    for sock in silent:
        sock.close()
    url = brief.replace("http", "ws") + "/ws"
    busy = [connect(url) for _ in range(6)]
    half = dial(brief)
    half.sendall(HEAD + b"Content-Length: 9\r\n\r\n{")
    time.sleep(0.05)
    answer = requests.get(f"{brief}/health", timeout=5)
    assert answer.status_code == 503 and answer.headers["Retry-After"] == "1"
    with pytest.raises(InvalidHandshake, match="503"):
        connect(url)
    for sock in [*busy, half]:
        sock.close()


@pytest.mark.slow
def test_a_silent_websocket_ends(brief: str) -> None:
    with connect(brief.replace("http", "ws") + "/ws") as sock:
        sock.send(json.dumps({"type": "state"}))
        assert json.loads(sock.recv())["type"] == "state"
        with pytest.raises(ConnectionClosed) as caught:
            sock.recv(timeout=5)
        assert caught.value.rcvd is not None and caught.value.rcvd.code == 1001


@pytest.mark.slow
def test_answers_that_a_client_never_reads_leave_no_trace_in_the_log(
    brief: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("uvicorn"), "propagate", True)
    place = urlsplit(brief)
    for _ in range(3):
        sock = socket.socket()
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect((place.hostname, place.port))
        request = b"GET /page/vendor/uPlot.iife.min.js HTTP/1.1\r\nHost: localhost\r\n\r\n"
        sock.sendall(request * MAX_PIPELINED)
        time.sleep(0.2)  # the first answers fill every buffer, and the others wait
        sock.close()
    time.sleep(0.2)
    assert requests.get(f"{brief}/health", timeout=5).status_code == 200
    assert not [record.getMessage() for record in caplog.records]


ATTACKS: list[Callable[[Served], None]] = [
    halves,
    dripping,
    resets,
    long_heads,
    long_bodies,
    garbage,
    broken_frames,
    broken_handshakes,
    deaf_websocket,
    deaf_http,
    storm,
    crowd,
]


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_an_attack_leaves_nothing_and_bystanders_notice_nothing(
    served: Served, attack: Callable[[Served], None]
) -> None:
    time.sleep(0.2)
    before = settled(served, NOTHING)
    seen: list[Any] = []
    bystander = threading.Thread(target=lambda: seen.append(episode(served, pause=0.1)))
    bystander.start()
    time.sleep(0.15)  # its session has begun
    attack(served)
    bystander.join()
    assert seen == [served.alone]
    settled(served, before)
    assert requests.get(f"{served.address}/health", timeout=5).json()["status"] == "healthy"
    assert "Traceback" not in served.log.read_text(), served.log.read_text()


@pytest.mark.slow
def test_memory_does_not_grow(catalogue: Any, tmp_path: Path) -> None:
    memory = []
    with Served(catalogue, tmp_path, request_timeout=5.0) as patient:  # with a late client, too
        churn(patient)  # the first of each kind opens what stays open
        before = settled(patient, NOTHING)
        for _ in range(6):
            for attack in (resets, long_heads, broken_handshakes, churn):
                attack(patient)
            memory.append(settled(patient, before).memory)
    assert memory[-1] - memory[1] < 6, memory  # MiB, after two rounds of warming up


def churn(server: Served) -> None:
    """Begin and end many sessions."""
    for number in range(40):
        with server.websocket() as sock:
            sock.send(json.dumps({"type": "reset", "data": {"seed": number}}))
            sock.recv()
    with requests.Session() as session:
        for number in range(40):
            begin = {"session_id": "churn", "seed": number, "episode_length": 50}
            assert session.post(f"{server.address}/reset", json=begin).status_code == 200
