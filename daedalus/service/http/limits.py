"""Limits of a request: who may ask, under which name, how long and how much."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, ip_address, ip_network
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from daedalus.service.http.error_handlers import turn_away
from daedalus.service.openenv.errors import shown

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_NETWORK_BITS = 64  # of IPv6: one customer usually has at least so large a network
_LATER = {"Retry-After": "10"}


class Limits:
    """Middleware that bounds bodies and silence, and refuses actions of foreign pages.

    CORS does not cover WebSockets, and it lets a page send requests whose answers it never reads.
    So the origin is checked here.

    Args:
        app: The application to protect.
        max_body_bytes: Longest body, in bytes.
        longer: Longest body by path, where another one holds.
        body_timeout: Longest time for a body to arrive, in seconds.
        idle_timeout: Longest silence of a WebSocket, in seconds.
        origins: Origins whose pages may act, beside the service's own.
    """

    def __init__(
        self,
        app: ASGIApp,
        max_body_bytes: int,
        longer: Mapping[str, int],
        body_timeout: float,
        idle_timeout: float,
        origins: Collection[str],
    ) -> None:
        self._app = app
        self._max_body_bytes = max_body_bytes
        self._longer = longer
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
        most = self._longer.get(scope["path"], self._max_body_bytes)
        try:
            async with asyncio.timeout(self._body_timeout):
                body, more = await self._read(receive, most)
        except TimeoutError:
            reason = f"the body did not arrive within {self._body_timeout:g} seconds"
            await turn_away(408, reason, scope, receive, send)
            return
        if body is None:
            return  # the client has left
        if len(body) > most:
            reason = f"the body is longer than {most} bytes"
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

    async def _read(self, receive: Receive, most: int) -> tuple[bytes | None, bool]:
        """Return the body, cut where it becomes too long, and whether there is more of it.

        There is no body if the client leaves.
        """
        body, more = bytearray(), True
        while more and len(body) <= most:
            message = await receive()
            if message["type"] != "http.request":
                return None, False
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return bytes(body), more


def trusted_hosts(app: ASGIApp, hosts: Sequence[str]) -> ASGIApp:
    """Refuse requests and WebSockets under a name that is not the service's.

    The owner of a domain can bind its name to the address of this machine after a visitor has
    opened a page there. Then the page has the same origin as the service. An IP address in place
    of a name cannot be bound to another machine, so it needs no entry.
    """
    check = TrustedHostMiddleware(_say_nothing, hosts, www_redirect=False)

    async def is_trusted(scope: Scope, receive: Receive) -> bool:
        if scope["type"] == "lifespan" or _is_address(Headers(scope=scope).get("host", "")):
            return True
        refusal: list[Message] = []

        async def keep(message: Message) -> None:
            refusal.append(message)

        await check(scope, receive, keep)  # it says something only if it refuses
        return not refusal

    async def check_host(scope: Scope, receive: Receive, send: Send) -> None:
        if await is_trusted(scope, receive):
            await app(scope, receive, send)
        else:
            host = shown(Headers(scope=scope).get("host", ""))
            reason = f"Host: {host!r} is not a name of this service; add it to service.hosts"
            await turn_away(400, reason, scope, receive, send)

    return check_host


async def _say_nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """Stand for the application behind the check."""


def _is_address(host: str) -> bool:
    try:
        ip_address(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False
    return True


def visitor_of(scope: Scope) -> str:
    """Return the visitor's address; of IPv6, the network that one visitor usually has to itself."""
    host = (scope.get("client") or ("",))[0]
    try:
        address = ip_address(host)
    except ValueError:
        return str(host)
    if not isinstance(address, IPv4Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if isinstance(address, IPv4Address):
        return str(address)
    return str(ip_network((int(address), _NETWORK_BITS), strict=False))


def sockets_per_visitor(app: ASGIApp, most: int) -> ASGIApp:
    """Let each visitor have at most so many open WebSockets; answer 503 to a further handshake."""
    open_sockets: Counter[str] = Counter()

    async def bound_sockets(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await app(scope, receive, send)
            return
        visitor = visitor_of(scope)
        if open_sockets[visitor] >= most:
            reason = f"all {most} WebSockets of your address are taken; try again later"
            await turn_away(503, reason, scope, receive, send, _LATER)
            return
        open_sockets[visitor] += 1
        try:
            await app(scope, receive, send)
        finally:
            open_sockets[visitor] -= 1
            if not open_sockets[visitor]:
                del open_sockets[visitor]

    return bound_sockets
