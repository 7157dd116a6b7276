"""A service in a process of its own, with readings of its memory, descriptors and sessions."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from pathlib import Path

from fastapi import FastAPI

from daedalus.service.http.app import create_app
from daedalus.service.http.server import listen, make_server
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.warm_up import warm_up
from daedalus.service.settings import ServiceSettings

_START_TIMEOUT = 300.0  # seconds; the first start on a machine compiles the market
_STOP_TIMEOUT = 10.0  # seconds


@dataclass(frozen=True)
class Usage:
    """The resources that a service holds.

    Attributes:
        http_sessions: Number of live sessions over HTTP.
        websocket_sessions: Number of live OpenEnv sessions.
        descriptors: Number of open files and sockets.
        memory: Resident memory, in MiB.
        processor: Processor time used so far, in seconds.
    """

    http_sessions: int
    websocket_sessions: int
    descriptors: int
    memory: float
    processor: float


class ServiceProcess:
    """Serves while its context is open. It reads ``/proc``, so it works on Linux only.

    Args:
        settings: Limits of the service.
        catalogue: The populations and markets that a reset may choose.
        log: File for the standard error of the process.
    """

    def __init__(self, settings: ServiceSettings, catalogue: Catalogue, log: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        fresh = replace(catalogue)  # without its cached models, which cannot be pickled
        given = (settings, fresh, log, theirs)
        self._process = context.Process(target=_serve, args=given, daemon=True)
        self._theirs = theirs
        self.address = ""

    def __enter__(self) -> ServiceProcess:
        """Start the service, and wait until it answers.

        Raises:
            RuntimeError: The service did not start; its log says why.
        """
        self._process.start()
        self._theirs.close()
        if not self._pipe.poll(_START_TIMEOUT):
            raise RuntimeError("the service did not start in time; see its log")
        self.address = self._pipe.recv()
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the service."""
        self._pipe.close()
        self._process.join(_STOP_TIMEOUT)
        self._process.kill()

    def usage(self) -> Usage:
        """Return the resources that the service holds now."""
        self._pipe.send(None)
        usage: Usage = self._pipe.recv()
        return usage


def _serve(settings: ServiceSettings, catalogue: Catalogue, log: Path, pipe: Connection) -> None:
    """Serve until the other end of the pipe closes; answer every message with the usage."""
    os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
    warm_up(catalogue)
    app = create_app(settings, catalogue, None)
    server = make_server(app, settings)
    with listen(settings) as listener:
        host, port = listener.getsockname()[:2]

        def answer() -> None:
            try:
                pipe.recv()
                pipe.send(_usage(app))
            except (EOFError, OSError):
                asyncio.get_running_loop().remove_reader(pipe.fileno())
                server.should_exit = True

        async def ready() -> None:
            asyncio.get_running_loop().add_reader(pipe.fileno(), answer)
            pipe.send(f"http://{host}:{port}")

        app.router.on_startup.append(ready)
        server.run(sockets=[listener])


def _usage(app: FastAPI) -> Usage:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    times = os.times()
    return Usage(
        http_sessions=len(app.state.sessions),
        websocket_sessions=app.state.openenv.active_sessions,
        descriptors=len(list(Path("/proc/self/fd").iterdir())),
        memory=pages * os.sysconf("SC_PAGE_SIZE") / 2**20,
        processor=times.user + times.system,
    )
