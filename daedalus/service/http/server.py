"""The socket, and the server that answers on it."""

from __future__ import annotations

import socket
from functools import partial

import uvicorn
from fastapi import FastAPI

from daedalus.service.http.connections import (
    MAX_HEAD_BYTES,
    ConnectionLimits,
    HttpConnection,
    WebSocketConnection,
)
from daedalus.service.settings import ServiceSettings

SEND_BUFFER = 262_144  # bytes that the kernel keeps for a client that does not read


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
