"""Limits of connections: how many there are, how slow they may be, how much they may hold."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, cast

from starlette.types import Receive, Scope, Send
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame

from daedalus.service.http.error_handlers import CLOSE, refusal, turn_away

MAX_HEAD_BYTES = 65_536
MAX_FRAGMENTS = 1024  # of one WebSocket message
MAX_PIPELINED = 16  # requests sent before the first of them is answered
_FULL = "all connections are taken; try again later"
_LATER = {"Retry-After": "1"} | CLOSE


@dataclass(frozen=True)
class ConnectionLimits:
    """Limits that all connections share.

    Attributes:
        most: Largest number of open connections, WebSockets included.
        head_timeout: Longest time for a request's head to arrive, in seconds.
        max_framing_bytes: Longest request without its body, in bytes: its head, and what frames the
            chunks of its body.
        waiting: Connections without a request under way, the longest waiting first.
    """

    most: int
    head_timeout: float
    max_framing_bytes: int
    waiting: dict[HttpConnection, None] = field(default_factory=dict)

    def make_room(self) -> bool:
        """Close the connection that has waited longest; False if none is waiting."""
        oldest = next(iter(self.waiting), None)
        if oldest is None:
            return False
        oldest.drop()
        return True


class HttpConnection(HttpToolsProtocol):
    """HTTP on one connection, with bounds on the size and the time of a request.

    uvicorn has no such bounds: it keeps a connection for ever that never finishes a request. When
    all connections are taken, the one that has waited longest for its next request is closed. So
    silent clients cannot keep others out. If none is waiting, the answer is 503.
    """

    def __init__(self, limits: ConnectionLimits, **given: Any) -> None:
        super().__init__(**given)
        self._limits = limits
        self._head_due: asyncio.TimerHandle | None = None
        self._received = 0
        self._refused = False
        self._served: RequestResponseCycle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept the connection, and make room for it if necessary."""
        super().connection_made(cast("asyncio.Transport", transport))
        if len(self.connections) > self._limits.most and not self._limits.make_room():
            self.app, self._refused = _full, True
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, and tell the request that is served.

        uvicorn tells the last request that has arrived. Others may be served before that one.
        """
        self._stop_waiting()
        super().connection_lost(exc)
        if self._served is not None and not self._served.response_complete:
            self._served.disconnected = True
            self._served.message_event.set()

    def data_received(self, data: bytes) -> None:
        """Read more, unless the request has become too long."""
        super().data_received(data)
        self._received += len(data)
        if self._head_due is not None and self._received > MAX_HEAD_BYTES:
            self._turn_away(431, f"the head is longer than {MAX_HEAD_BYTES} bytes")
        elif self._received > self._limits.max_framing_bytes or len(self.pipeline) > MAX_PIPELINED:
            self.drop()

    def on_headers_complete(self) -> None:
        """Start to serve a request."""
        self._stop_waiting()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body; the application bounds bodies, and this connection all else."""
        super().on_body(body)
        if not self.pipeline:
            self._received -= len(body)

    def on_response_complete(self) -> None:
        """Wait for the next request, or serve it if it is already here."""
        super().on_response_complete()
        if self.cycle.response_complete and not self.transport.is_closing():
            self._wait()

    def handle_websocket_upgrade(self) -> None:
        """Turn the connection into a WebSocket, unless all places are taken."""
        if self._refused:
            self._turn_away(503, _FULL, _LATER)
        else:
            super().handle_websocket_upgrade()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._served = cycle
        super()._start_asgi_task(cycle, app)

    def drop(self) -> None:
        """Close the connection without an answer."""
        self._stop_waiting()
        self.transport.abort()

    def _wait(self) -> None:
        self._stop_waiting()
        self._received = 0
        self._limits.waiting[self] = None
        self._head_due = self.loop.call_later(self._limits.head_timeout, self._give_up)

    def _stop_waiting(self) -> None:
        self._limits.waiting.pop(self, None)
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None

    def _give_up(self) -> None:
        if self._received:
            timeout = self._limits.head_timeout
            self._turn_away(408, f"the head did not arrive within {timeout:g} seconds")
        else:
            self.drop()

    def _turn_away(self, status: int, reason: str, more: dict[str, str] = CLOSE) -> None:
        """Answer before the application has a request to answer."""
        self._stop_waiting()
        answer = refusal(status, reason, headers=more)
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
        lines += [b"%b: %b" % header for header in answer.raw_headers]
        self.transport.write(b"\r\n".join([*lines, b"", answer.body]))
        self.transport.close()


class WebSocketConnection(WebSocketsSansIOProtocol):
    """A WebSocket that reads nothing while its client reads nothing, so no data pile up."""

    def pause_writing(self) -> None:
        """Stop reading, pings included, until the client has read its answers."""
        super().pause_writing()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """Read more, unless a message is waiting to be played."""
        super().resume_writing()
        if not self.read_paused:
            self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Read more; a handshake that cannot be read closes the connection."""
        super().data_received(data)
        if not self.handshake_initiated:
            self.transport.abort()

    def handle_cont(self, event: Frame) -> None:
        """Add a fragment to the message; too many fragments close the connection."""
        super().handle_cont(event)
        if len(self.frames) > MAX_FRAGMENTS:
            self.transport.abort()

    def send_receive_event_to_app(self) -> None:
        """Pass a whole message on; one that is no valid text closes the connection, unlogged."""
        if self.curr_msg_data_type == "text" and not _is_text(b"".join(self.frames)):
            self.conn.send_close(CloseCode.INVALID_DATA)
            self.handle_parser_exception()
        else:
            super().send_receive_event_to_app()


async def _full(scope: Scope, receive: Receive, send: Send) -> None:
    await turn_away(503, _FULL, scope, receive, send, _LATER)


def _is_text(message: bytes) -> bool:
    try:
        message.decode()
    except UnicodeDecodeError:
        return False
    return True
