"""Limits of a request: long or slow bodies are refused, and so are pages of other origins."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from daedalus.service.http.refusals import turn_away

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class Limits:
    """Middleware that bounds bodies and silence, and refuses actions of foreign pages.

    CORS does not cover WebSockets, and it lets a page send requests whose answers it never reads.
    So the origin is checked here.

    Args:
        app: The application to protect.
        max_body_bytes: Longest body, in bytes.
        body_timeout: Longest time for a body to arrive, in seconds.
        idle_timeout: Longest silence of a WebSocket, in seconds.
        origins: Origins whose pages may act, beside the service's own.
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
            await turn_away(403, "pages of this origin may not act", scope, receive, send)
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
        """Serve a WebSocket until it closes or has been silent for too long."""

        async def receive_in_time() -> Message:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._idle_timeout):
                    return await receive()
            await send_if_there({"type": "websocket.close", "code": 1001, "reason": "idle"})
            return {"type": "websocket.disconnect", "code": 1001}

        async def send_if_there(message: Message) -> None:
            with suppress(OSError):  # the next message to arrive says that the client has left
                await send(message)

        await self._app(scope, receive_in_time, send_if_there)

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the whole body within the limits, and pass it on."""
        try:
            async with asyncio.timeout(self._body_timeout):
                body, more = await self._read(receive)
        except TimeoutError:
            reason = f"the body did not arrive within {self._body_timeout:g} seconds"
            await turn_away(408, reason, scope, receive, send)
            return
        if body is None:
            return  # the client has left
        if len(body) > self._max_body_bytes:
            reason = f"the body is longer than {self._max_body_bytes} bytes"
            last = self._after_rest(receive, send) if more else send
            await turn_away(413, reason, scope, receive, last)
            return
        held: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return held.pop() if held else await receive()

        await self._app(scope, replay, send)

    def _after_rest(self, receive: Receive, send: Send) -> Send:
        """Return a ``send`` that ends the answer when the client has sent the rest of its body.

        The end of the answer closes the connection. If the client still sent, it could lose the
        answer.
        """

        async def send_and_wait(message: Message) -> None:
            if message["type"] == "http.response.body":
                await send({**message, "more_body": True})
                await self._drop_rest(receive)
                message = {"type": "http.response.body"}
            await send(message)

        return send_and_wait

    async def _drop_rest(self, receive: Receive) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._body_timeout):
                while (await receive()).get("more_body", False):
                    pass

    async def _read(self, receive: Receive) -> tuple[bytes | None, bool]:
        """Return the body, cut where it becomes too long, and whether there is more of it.

        There is no body if the client leaves.
        """
        body, more = bytearray(), True
        while more and len(body) <= self._max_body_bytes:
            message = await receive()
            if message["type"] != "http.request":
                return None, False
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return bytes(body), more
