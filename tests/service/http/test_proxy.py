"""The proxy of deploy/haproxy.cfg in front of a service: no address can take what others need."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
from requests.adapters import HTTPAdapter
from websockets.sync.client import connect

from daedalus.service.openenv.catalogue import Catalogue
from tests.programs import HAPROXY
from tests.service.conftest import dial, play, serving

CONFIGURATION = Path(__file__).parents[3] / "deploy" / "haproxy.cfg"
PLACES = {"http_sessions": 20, "websocket_sessions": 20, "sessions_per_address": 2}

pytestmark = [pytest.mark.slow, HAPROXY.needed]


class Visitor(HTTPAdapter):
    """Connects from an address of its own, 127.0.0.NUMBER."""

    def __init__(self, number: int) -> None:
        self.address = f"127.0.0.{number}"
        super().__init__()

    def init_poolmanager(self, *arguments, **options) -> None:
        super().init_poolmanager(*arguments, **options, source_address=(self.address, 0))


def visit(number: int) -> requests.Session:
    session = requests.Session()
    session.mount("http://", Visitor(number))
    return session


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


@pytest.fixture(scope="module")
def front(catalogue: Catalogue) -> Iterator[str]:
    """Answer through the proxy; the address where visitors connect."""
    with serving(catalogue, **PLACES, trusted_proxies=["127.0.0.1"]) as address:
        place = f"127.0.0.1:{free_port()}"
        told = {"FRONT": place, "SERVICE": urlsplit(address).netloc}
        command = [HAPROXY.path, "-db", "-f", str(CONFIGURATION)]
        with subprocess.Popen(command, env=os.environ | told) as proxy:
            until = time.monotonic() + 10
            while proxy.poll() is None and time.monotonic() < until:
                with suppress(requests.ConnectionError):
                    assert requests.get(f"http://{place}/health").status_code == 200
                    break
                time.sleep(0.05)
            yield f"http://{place}"
            proxy.terminate()


def test_the_page_and_both_ways_in_work_through_it(front: str) -> None:
    with visit(10) as session:
        session.headers["Origin"] = front
        assert "<title>Daedalus" in session.get(front).text
        assert play(session, front, "ordinary").status_code == 200
    source = ("127.0.0.10", 0)
    with connect(front.replace("http", "ws") + "/ws", source_address=source) as websocket:
        websocket.send('{"type": "reset", "data": {"seed": 1}}')
        assert '"observation"' in str(websocket.recv(timeout=5))


def test_an_address_holds_only_its_own_sessions_whatever_it_writes(front: str) -> None:
    with visit(20) as greedy, visit(21) as newcomer:
        codes = []
        for number in range(4):
            greedy.headers["X-Forwarded-For"] = f"192.0.2.{number}"
            codes.append(play(greedy, front, f"greedy-{number}").status_code)
        assert codes == [200, 200, 503, 503]
        assert play(newcomer, front, "newcomer").status_code == 200


def test_an_address_that_resets_without_end_is_slowed_down_and_others_play(front: str) -> None:
    with visit(30) as greedy, visit(31) as newcomer:
        codes = Counter(greedy.post(f"{front}/reset", json={}).status_code for _ in range(100))
        assert codes[429] == 60 and codes[200] == 40
        refused = greedy.post(f"{front}/reset", json={})
        assert refused.headers["Retry-After"] == "10"
        assert "too many requests from your address" in refused.json()["error"]
        assert greedy.get(f"{front}/health").status_code == 200
        assert newcomer.post(f"{front}/reset", json={}).status_code == 200


def test_an_address_that_asks_without_end_is_slowed_down_and_others_are_served(front: str) -> None:
    with visit(40) as greedy, visit(41) as newcomer:
        asked = Counter(greedy.post(f"{front}/api/design", json={}).status_code for _ in range(120))
        assert asked[429] == 20
        seen = Counter(greedy.get(f"{front}/health").status_code for _ in range(500))
        assert seen[429] >= 100
        assert newcomer.post(f"{front}/api/design", json={}).status_code == 200


@pytest.mark.parametrize(
    ("number", "path", "bound"),
    [(60, "/%72eset", 40), (61, "/%77s", 40), (62, "/api/%64esign", 100)],
)
def test_a_path_with_encoded_letters_has_the_same_bound(
    front: str, number: int, path: str, bound: int
) -> None:
    """The service decodes a path. The client would do so too, and thus asks as it is told here."""
    with visit(number) as greedy:
        ask = requests.Request("POST", front, json={}).prepare()
        ask.url = front + path
        codes = Counter(greedy.send(ask).status_code for _ in range(bound + 5))
    assert codes[429] == 5


def test_an_address_has_a_bounded_number_of_connections(front: str) -> None:
    socks = []
    for _ in range(80):
        with suppress(ConnectionError):
            socks.append(dial(front, timeout=5, source_address=("127.0.0.50", 0)))
    time.sleep(0.3)
    assert sum(is_open(sock) for sock in socks) <= 50
    with visit(51) as newcomer:
        assert newcomer.get(f"{front}/health").status_code == 200
    for sock in socks:
        sock.close()


def is_open(sock: socket.socket) -> bool:
    sock.setblocking(False)
    try:
        return sock.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
