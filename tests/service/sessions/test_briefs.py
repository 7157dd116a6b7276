"""Resets with a brief: they wait in the queue of all who ask the reader, and hold up nobody."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from daedalus.design.briefs.clauses import Understanding, understand
from daedalus.service.openenv.briefs_on_offer import Understand
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.sessions.briefs import Briefs
from daedalus.service.sessions.session_messages import MOST_SENTENCES
from tests.service.briefs import offer

SLOW = "Slowly."


class Reader:
    """Takes its time over ``SLOW``, and counts what it reads."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.may_go_on = threading.Event()
        self.went_on = True

    def __call__(self, brief: str) -> Understanding:
        self.read.append(brief)
        if brief == SLOW:
            self.went_on = self.may_go_on.wait(5)
        return understand([])

    def load(self) -> Understand:
        return self


@pytest.fixture
def reader() -> Iterator[Reader]:
    found = Reader()
    yield found
    found.may_go_on.set()


@pytest.mark.anyio
async def test_a_reset_is_not_held_up_by_the_reading_of_another(
    catalogue: Catalogue, reader: Reader
) -> None:
    reading = replace(catalogue, briefs=offer(reader.load))
    briefs = Briefs(reading.briefs, 1.0, 5.0, queue=2)
    first, second = (DaedalusEnvironment(reading, read_ahead=briefs.read_ahead) for _ in range(2))
    quick = asyncio.ensure_future(first.reset_async(1, brief="Quickly."))
    slow = asyncio.ensure_future(second.reset_async(1, brief=SLOW))
    assert (await quick).brief == "Quickly."
    again = await first.reset_async(2, brief="Quickly.")  # known, while another brief is read
    assert again.brief == "Quickly." and not slow.done()
    reader.may_go_on.set()
    assert (await slow).brief == SLOW and reader.went_on
    assert reader.read == ["Quickly.", SLOW]
    briefs.close()


def test_a_reset_waits_as_long_as_a_design_and_in_the_same_queue(reach, reader: Reader) -> None:
    client = reach(briefs=offer(reader.load), design_queue=1, design_timeout=0.1)
    waited = client.post("/reset", json={"brief": SLOW})
    assert waited.status_code == 503 and "longer than 0.1 seconds" in waited.json()["error"]
    assert int(waited.headers["Retry-After"]) > 0
    for path in ("/reset", "/api/design"):
        full = client.post(path, json={"brief": "Quickly."})
        assert full.status_code == 503 and "already waiting" in full.json()["error"]
    with client.websocket_connect("ws://localhost:8000/ws") as socket:
        socket.send_json({"type": "reset", "data": {"brief": "Quickly."}})
        assert "already waiting" in socket.receive_json()["data"]["message"]
    assert client.post("/reset", json={}).status_code == 200
    assert reader.read == [SLOW]


def test_a_reset_takes_as_many_sentences_as_a_design(reach) -> None:
    client = reach(briefs=offer())
    for path in ("/reset", "/api/design"):
        refused = client.post(path, json={"brief": "Yes! " * (MOST_SENTENCES + 1)})
        assert refused.status_code == 422
        assert f"send {MOST_SENTENCES} at most" in refused.json()["detail"][0]["allowed"]
