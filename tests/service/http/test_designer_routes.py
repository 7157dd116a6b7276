"""The designer routes: a designer is asked by name."""

from __future__ import annotations

import json
import threading
import time

import pytest
import requests

from daedalus.design.designers.random import RandomDesigner
from daedalus.design.language.prompt import PromptSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism
from daedalus.service.openenv.catalogue import Catalogue
from tests.service.conftest import dial, serving, settled

EPISODE = {"session_id": "watched", "seed": 5, "population": "stage4"}


@pytest.mark.slow
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


def leave_at_once(address: str, body: dict) -> None:
    """Ask for a mechanism, and close the connection before the answer."""
    content = json.dumps(body).encode()
    head = "POST /api/design HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Content-Length: {len(content)}\r\n\r\n"
    with dial(address) as sock:
        sock.sendall(head.encode() + content)


def test_requests_whose_clients_have_left_keep_no_place(catalogue: Catalogue) -> None:
    asked, release = [], threading.Event()

    def generate(chats, rng, goals):
        asked.append(chats)
        release.wait(40)
        return [format_mechanism(Mechanism())]

    with serving(catalogue, lambda: (generate, PromptSettings())) as address:
        status = f"{address}/api/designer/status"
        settled(requests, address)
        until = time.monotonic() + 30
        while not asked and time.monotonic() < until:  # a busy server may drop one that has left
            leave_at_once(address, {"round_number": 0})
            time.sleep(0.1)
        for number in range(30):
            leave_at_once(address, {"round_number": number})
        while requests.get(status).json()["waiting"] > 1 and time.monotonic() < until:
            time.sleep(0.1)
        assert requests.get(status).json()["waiting"] == 1  # the one that had begun
        release.set()
        answer = requests.post(f"{address}/api/design", json={"round_number": 99}).json()
        assert answer["source"] == "ai" and len(asked) == 2
