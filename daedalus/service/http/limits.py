"""What is turned away before anything reads it: long or slow bodies, and pages of other origins."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class Limits:
    """Middleware that bounds bodies and silence, and keeps foreign pages from acting.

    CORS does not cover WebSockets, nor what a page sends without reading the answer, so that the
    origin is checked here.

    Args:
        app: What is protected.
        max_body_bytes: Longest body, in bytes.
        body_timeout: How long a body may take to arrive, in seconds.
        idle_timeout: How long a WebSocket may be silent, in seconds.
        origins: Origins that may act beside the service's own.
    """

    def __init__(
        self,
        app: ASGIApp,
        max_body_bytes: int,
        body_timeout: float,
        idle_timeout: float,
        origins: Collection[str],
    ) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes
        self._body_timeout = body_timeout
        self._idle_timeout = idle_timeout
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 403, 408 or 413."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
        elif self._is_foreign(scope):
            await self._turn_away(403, "pages of this origin may not", scope, receive, send)
        elif scope["type"] == "websocket":
            await self._unless_silent(scope, receive, send)
        else:
            await self._bounded(scope, receive, send)

    def _is_foreign(self, scope: Scope) -> bool:
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin is None or scope.get("method") in _SAFE_METHODS or origin in self._origins:
            return False
        return urlsplit(origin).netloc != headers.get("host")

    async def _unless_silent(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a WebSocket until it goes or has been silent for too long."""

        async def receive_in_time() -> Message:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._idle_timeout):
                    return await receive()
            await send_if_there({"type": "websocket.close", "code": 1001, "reason": "idle"})
            return {"type": "websocket.disconnect", "code": 1001}

        async def send_if_there(message: Message) -> None:
            with suppress(OSError):  # the next message that is received says that it has gone
                await send(message)

        await self._app(scope, receive_in_time, send_if_there)

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the whole body, which is short and comes soon, and hand it on."""
        try:
            async with asyncio.timeout(self._body_timeout):
                body = await self._read(receive)
        except TimeoutError:
            reason = f"the body did not arrive within {self._body_timeout:g} seconds"
            await self._turn_away(408, reason, scope, receive, send)
            return
        if body is None:
            return  # the client has gone
        if len(body) > self._max_body_bytes:
            reason = f"the body is longer than {self._max_body_bytes} bytes"
            await self._turn_away(413, reason, scope, receive, send)
            return
        held: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return held.pop() if held else await receive()

        await self._app(scope, replay, send)

    async def _read(self, receive: Receive) -> bytes | None:
        """Return the body, or as much of it as shows that it is too long; None if none comes."""
        body, more = bytearray(), True
        while more and len(body) <= self._max_body_bytes:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return bytes(body)

    @staticmethod
    async def _turn_away(
        status: int, reason: str, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008, "reason": reason})
        else:
            answer = JSONResponse({"error": reason, "detail": []}, status)
            answer.headers["Connection"] = "close"
            await answer(scope, receive, send)
