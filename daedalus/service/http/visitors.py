"""Visitors by their addresses: how many places one of them may hold."""

from __future__ import annotations

from collections import Counter
from ipaddress import IPv4Address, ip_address, ip_network

from starlette.types import ASGIApp, Receive, Scope, Send

from daedalus.service.http.refusals import turn_away

_NETWORK_BITS = 64  # of IPv6: one customer usually has at least so large a network
_LATER = {"Retry-After": "10"}


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


class SocketsPerVisitor:
    """Middleware that bounds the open WebSockets of each visitor.

    Args:
        app: The application to protect.
        most: Largest number of open WebSockets of one visitor.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app = app
        self._most = most
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer a handshake with 503."""
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        visitor = visitor_of(scope)
        if self._open[visitor] >= self._most:
            reason = f"all {self._most} WebSockets of your address are taken; try again later"
            await turn_away(503, reason, scope, receive, send, _LATER)
            return
        self._open[visitor] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[visitor] -= 1
            if not self._open[visitor]:
                del self._open[visitor]
