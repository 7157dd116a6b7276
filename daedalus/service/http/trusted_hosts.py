"""The names under which the service answers, so no foreign name can be bound to its address."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import ip_address
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from daedalus.service.http.refusals import turn_away
from daedalus.service.openenv.errors import shown


class TrustedHosts:
    """Middleware that refuses requests and WebSockets under a name that is not the service's.

    The owner of a domain can bind its name to the address of this machine after a visitor has
    opened a page there. Then the page has the same origin as the service. An IP address in place
    of a name cannot be bound to another machine, so it needs no entry.

    Args:
        app: The application to protect.
        hosts: Names without a port; ``*.example.org`` means subdomains, ``*`` any name.
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str]) -> None:
        self._app = app
        self._check = TrustedHostMiddleware(_say_nothing, hosts, www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer 400 and name the setting."""
        if await self._is_trusted(scope, receive):
            await self._app(scope, receive, send)
        else:
            host = shown(Headers(scope=scope).get("host", ""))
            reason = f"Host: {host!r} is not a name of this service; add it to service.hosts"
            await turn_away(400, reason, scope, receive, send)

    async def _is_trusted(self, scope: Scope, receive: Receive) -> bool:
        """Ask Starlette's check, which answers a request only if it refuses it."""
        if scope["type"] == "lifespan" or _is_address(Headers(scope=scope).get("host", "")):
            return True
        refusal: list[Message] = []

        async def keep(message: Message) -> None:
            refusal.append(message)

        await self._check(scope, receive, keep)
        return not refusal


async def _say_nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """Stand for the application behind the check."""


def _is_address(host: str) -> bool:
    try:
        ip_address(urlsplit(f"//{host}").hostname or "")
    except ValueError:
        return False
    return True
