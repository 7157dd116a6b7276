"""The socket, and the server behind it."""

from __future__ import annotations

import socket
from asyncio import Protocol
from functools import partial
from typing import cast

import uvicorn
from fastapi import FastAPI

from daedalus.service.address import bound_socket
from daedalus.service.http.connections import (
    MAX_HEAD_BYTES,
    ConnectionLimits,
    HttpConnection,
    WebSocketConnection,
)
from daedalus.service.settings import ServiceSettings

SEND_BUFFER = 262_144  # bytes that the kernel keeps for a slow reader


def listen(settings: ServiceSettings) -> socket.socket:
    """Return a socket at the service's address.

    Raises:
        CannotRunError: The address is taken, or belongs to another machine.
    """
    listener = bound_socket(settings)
    # Connections inherit this. Without it, an answer's body waits 40 ms for an acknowledgement.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    if hasattr(socket, "TCP_USER_TIMEOUT"):  # on Linux: closes a connection that does not read
        patience = int(1000 * settings.answer_timeout)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, patience)
    return listener


def make_server(app: FastAPI, settings: ServiceSettings) -> uvicorn.Server:
    """Return the server; ``run(sockets=[...])`` answers requests until it is interrupted."""
    limits = ConnectionLimits(
        settings.connections, settings.request_timeout, MAX_HEAD_BYTES + 8 * settings.max_body_bytes
    )
    protocol = cast("type[Protocol]", partial(HttpConnection, limits))  # uvicorn only calls it
    config = uvicorn.Config(
        app,
        loop="uvloop",
        http=protocol,
        ws=WebSocketConnection,
        ws_max_size=settings.max_body_bytes,
        ws_ping_interval=settings.websocket_ping,
        ws_ping_timeout=settings.websocket_ping,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        server_header=False,
        log_level="warning",
    )
    return uvicorn.Server(config)
