"""The service: OpenEnv and the session API in one application."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping
from functools import partial

import uvicorn
from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from openenv.core.env_server.http_server import HTTPEnvServer
from openenv.core.env_server.types import ConcurrencyConfig, ServerMode

from daedalus.designers.base import Designer
from daedalus.service.api import session_api
from daedalus.service.catalogue import Catalogue
from daedalus.service.connections import (
    MAX_HEAD_BYTES,
    ConnectionLimits,
    HttpConnection,
    WebSocketConnection,
)
from daedalus.service.designer import BackgroundDesigner, Load
from daedalus.service.environment import DESCRIPTION, NAME, DaedalusEnvironment
from daedalus.service.errors import add_error_handlers
from daedalus.service.limits import Limits
from daedalus.service.mcp import mcp_answers
from daedalus.service.models import DaedalusAction, DaedalusObservation, DaedalusState
from daedalus.service.sessions import SessionStore
from daedalus.service.settings import ServiceSettings
from daedalus.service.showcase import add_page, showcase

OPENENV_ROUTES = {"/ws", "/health", "/schema", "/metadata"}
"""What OpenEnv's own server answers.

Its resets and steps over HTTP forget the episode, and its sessions over MCP outlive their openers.
"""

SEND_BUFFER = 262_144  # bytes that the kernel keeps for a client that does not read


def create_app(
    settings: ServiceSettings,
    catalogue: Catalogue,
    load: Load | None,
    rules: Mapping[str, Designer] | None = None,
) -> FastAPI:
    """Build the service.

    Args:
        settings: What it grants to whom.
        catalogue: What a reset may choose from.
        load: Loads the designer in the background; None if there is none.
        rules: Other designers that may be asked, by name.
    """
    rules = rules or {}
    app = FastAPI(
        title="Daedalus", version="1.0.0", description=DESCRIPTION, docs_url=None, redoc_url=None
    )

    def make() -> DaedalusEnvironment:
        return DaedalusEnvironment(catalogue)

    sessions = SessionStore(
        make, settings.http_sessions, settings.session_timeout, settings.session_grace
    )
    designer = BackgroundDesigner(load, settings.design_timeout, settings.design_queue)
    app.state.sessions = sessions
    app.state.openenv = add_openenv(app, settings, make)
    app.include_router(session_api(catalogue, sessions, designer, rules))
    app.include_router(mcp_answers())
    app.include_router(showcase(settings, catalogue, list(rules)))
    add_page(app)
    app.router.on_shutdown += [designer.close, sessions.close]
    add_error_handlers(app)
    app.add_middleware(
        Limits,
        max_body_bytes=settings.max_body_bytes,
        body_timeout=settings.request_timeout,
        idle_timeout=settings.session_timeout,
        origins=settings.cors_origins,
    )
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.cors_origins,
            allow_methods=["GET", "POST"],
            allow_headers=["Content-Type"],
            expose_headers=["Retry-After"],
        )
    return app


def add_openenv(
    app: FastAPI, settings: ServiceSettings, make: Callable[[], DaedalusEnvironment]
) -> HTTPEnvServer:
    """Add OpenEnv's WebSocket and what describes the environment, not its resets and steps."""
    server = HTTPEnvServer(
        make,
        DaedalusAction,
        DaedalusObservation,
        concurrency_config=ConcurrencyConfig(
            max_concurrent_envs=settings.websocket_sessions,
            session_timeout=settings.session_timeout,
        ),
        env_name=NAME,
        state_cls=DaedalusState,
    )
    routes = app.router.routes
    own = len(routes)
    server.register_routes(app, ServerMode.PRODUCTION)
    routes[own:] = [each for each in routes[own:] if getattr(each, "path", "") in OPENENV_ROUTES]
    return server


def listen(settings: ServiceSettings) -> socket.socket:
    """Return a socket at the service's address.

    Raises:
        ValueError: It is taken or not this machine's.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listener = socket.create_server((settings.host, settings.port), family=family)
    except OSError as error:
        raise ValueError(
            f"service.host {settings.host}, service.port {settings.port}: {error.strerror}; "
            "give another port, or 0 for any that is free"
        ) from error
    # Connections inherit it; without, an answer's body waits 40 ms for its head to be confirmed.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # on Linux: data that nobody takes end the connection
        patience = int(1000 * settings.answer_timeout)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, patience)
    return listener


def make_server(app: FastAPI, settings: ServiceSettings) -> uvicorn.Server:
    """Return what answers requests on a socket: ``run(sockets=[...])``, until interrupted."""
    limits = ConnectionLimits(
        settings.connections, settings.request_timeout, MAX_HEAD_BYTES + 8 * settings.max_body_bytes
    )
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=partial(HttpConnection, limits),
        ws=WebSocketConnection,
        ws_max_size=settings.max_body_bytes,
        ws_ping_interval=settings.websocket_ping,
        ws_ping_timeout=settings.websocket_ping,
        server_header=False,
        log_level="warning",
    )
    return uvicorn.Server(config)
