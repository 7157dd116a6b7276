"""HEAD answers as GET does, without the body."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class HeadAsGet:
    """Middleware that lets the routes of GET answer HEAD; the server leaves out the body.

    FastAPI's routes answer the methods that they name, and no others.

    Args:
        app: The application whose routes name GET.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, as a GET if it is a HEAD."""
        # The server keeps its own scope, so it still knows that nobody wants the body.
        inner = {**scope, "method": "GET"} if scope.get("method") == "HEAD" else scope
        await self._app(inner, receive, send)
