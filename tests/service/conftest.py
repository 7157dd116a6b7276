from __future__ import annotations

import json
import os
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from fastapi import FastAPI
from starlette.testclient import TestClient, WebSocketDenialResponse

from daedalus.design.env import Designer
from daedalus.design.rewards.stack import RewardStack
from daedalus.market.interface import MARKETS, MarketSettings
from daedalus.runs.files import locked
from daedalus.service.http.app import create_app
from daedalus.service.http.server import listen, make_server
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.warm_up import warm_up
from daedalus.service.sessions.background_designer import Load
from daedalus.service.settings import ServiceSettings
from experiments.serve import make_catalogue, make_report_on
from tests.launch.config.composing import composed
from tests.populations import in_both_markets
from tests.service.briefs import WorkerHere
from tests.service.sessions.test_worker import STORED

OBJECTIVES = {"composite": RewardStack(), "revenue": RewardStack({"revenue": 1.0})}
JSON_BODY = {"Content-Type": "application/json"}
LIMITS: dict[str, Any] = {"http_sessions": 2, "websocket_sessions": 2, "port": 0}
PARTS = {"load", "designers", "makers", "report_on"}

DOCS = Path(__file__).parents[2] / "docs" / "service.md"

Reach = Callable[..., TestClient]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run asynchronous tests on the event loop of the service."""
    return "asyncio"


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    populations = {f"stage{stage}": in_both_markets(stage) for stage in (0, 3, 4)}
    markets = {name: MarketSettings(name) for name in MARKETS}
    found = Catalogue(
        populations, "stage3", "strategic", markets, max_episode_length=50, objectives=OBJECTIVES
    )
    # Compile first: a server that compiles answers no pings. The thread then plays alone.
    compiling = threading.Thread(target=warm_up, args=(found,))
    compiling.start()
    compiling.join()
    return found


@pytest.fixture(scope="session")
def shipped() -> Catalogue:
    """Return what ``make serve`` offers."""
    return make_catalogue(composed("+experiment=serve"))


def make_app(
    catalogue: Catalogue, folder: Path | str, **given: Any
) -> tuple[FastAPI, ServiceSettings]:
    """Return an application, of some parts and changed settings, in whose folder no run is left."""
    parts = {"load": None} | {name: given.pop(name) for name in PARTS & given.keys()}
    briefs = given.pop("briefs", None) or catalogue.briefs
    settings = ServiceSettings(**LIMITS | {"outputs": str(folder)} | given)
    return create_app(settings, replace(catalogue, briefs=briefs), **parts), settings


@contextmanager
def reached(catalogue: Catalogue, folder: Path, **given: Any) -> Iterator[TestClient]:
    """Give a client of an application, see ``make_app``."""
    app, _ = make_app(catalogue, folder, **given)
    url = "http://localhost:8000"
    with TestClient(app, base_url=url, raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def reach(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reach]:
    """Build applications, and return clients of them."""

    def build(load: Load | None = None, offered: Catalogue = catalogue, **given: Any) -> TestClient:
        folder = tmp_path_factory.mktemp("outputs")
        return clients.enter_context(reached(offered, folder, load=load, **given))

    with ExitStack() as clients:
        yield build


@pytest.fixture(scope="module")
def client(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Give a client that the tests of a module share."""
    with reached(catalogue, tmp_path_factory.mktemp("outputs")) as found:
        yield found


@contextmanager
def serving(
    catalogue: Catalogue,
    load: Load | None = None,
    designers: dict[str, Designer] | None = None,
    **given: Any,
) -> Iterator[str]:
    """Answer on a socket of this machine, see ``make_app``; the address."""
    with TemporaryDirectory() as folder:
        app, settings = make_app(catalogue, folder, load=load, designers=designers, **given)
        with listen(settings) as listener:
            server = make_server(app, settings)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            while not server.started:
                time.sleep(0.01)
            try:
                yield f"http://127.0.0.1:{listener.getsockname()[1]}"
            finally:  # or a test that fails leaves a thread that the process waits for
                server.should_exit = True
                thread.join()


def settled(client: Any, address: str = "") -> str:
    """Wait until the trained designer is loaded or is not there; its status."""
    status = f"{address}/api/designer/status"
    while (told := client.get(status).json()["status"]) == "loading":
        time.sleep(0.01)
    return str(told)


def play(client: Any, address: str, name: str, **given: Any) -> requests.Response:
    """Open a session and play a step, so that it does not give way; the answer to the reset."""
    answer = client.post(f"{address}/reset", json={"session_id": name, "seed": 1}, **given)
    step = {"session_id": name, "action": {}}
    assert client.post(f"{address}/step", json=step, **given).status_code in (200, 404)
    return answer


def dial(address: str, **options: Any) -> socket.socket:
    """Connect to an address without any protocol."""
    place = urlsplit(address)
    return socket.create_connection((place.hostname, place.port), **options)


def exchanged(address: str, *parts: bytes, pause: float = 0.0) -> bytes:
    """Send bytes, and return everything that comes back until the server closes."""
    with dial(address, timeout=9) as sock:
        for part in parts:
            sock.sendall(part)
            time.sleep(pause)
        return b"".join(iter(lambda: sock.recv(65_536), b""))


def open_websocket(client: TestClient, headers: dict[str, str]) -> int:
    """Ask for the state over a WebSocket; 101, or the status of the refusal."""
    try:
        with client.websocket_connect("ws://localhost:8000/ws", headers=headers) as websocket:
            websocket.send_json({"type": "state"})
            assert websocket.receive_json()["type"] == "state"
            return 101
    except WebSocketDenialResponse as refused:
        assert json.loads(refused.content)["error"]
        return refused.status_code


def documented(word: str, changes: dict[str, str], document: Path = DOCS) -> str:
    """Return the one script of a document in which a word occurs, changed."""
    blocks = re.findall(r"```python\n(.*?)```", document.read_text(), re.DOTALL)
    (script,) = [each for each in blocks if word in each]
    for old, new in changes.items():
        assert script.count(old) == 1, old
        script = script.replace(old, new)
    return script


@pytest.fixture(scope="module")
def address(catalogue: Catalogue) -> Iterator[str]:
    """Answer as long as a module's tests last."""
    with serving(catalogue) as found:
        yield found


@pytest.fixture
def searches_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search for briefs in this process."""
    monkeypatch.setattr("daedalus.service.sessions.briefs.Worker", WorkerHere)


@pytest.fixture(scope="session")
def hostile_report(catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the real report on a hostile log, see ``leave_report``.

    The workers share it: who comes first has it made.
    """
    from tests.service.made_report import leave_report  # pandas is slow to import

    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "hostile_report"
    with locked(shared):
        if not (folder / STORED[-1]).exists():
            folder.mkdir(exist_ok=True)
            real = {"report_on": make_report_on(), "report_timeout": 240.0}
            with reached(catalogue, tmp_path_factory.mktemp("outputs"), **real) as client:
                leave_report(client, folder)
    return folder
