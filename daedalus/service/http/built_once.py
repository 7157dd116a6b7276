"""Documents that never change: the first answer is kept, and given to all who ask later."""

from __future__ import annotations

from collections.abc import Collection

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BuiltOnce:
    """Middleware that lets the application answer a GET of each path once.

    Args:
        app: The application that builds the documents.
        paths: Paths of the documents; each must depend on nothing else in a request.
    """

    def __init__(self, app: ASGIApp, paths: Collection[str]) -> None:
        self._app = app
        self._paths = paths
        self._answers: dict[str, list[Message]] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from what is kept, or pass the request on."""
        if scope.get("method") != "GET" or scope["path"] not in self._paths:
            await self._app(scope, receive, send)
            return
        for message in await self._answer(scope, receive):
            await send({**message})  # other middleware may change what it is given

    async def _answer(self, scope: Scope, receive: Receive) -> list[Message]:
        path = scope["path"]
        if path not in self._answers:
            answer: list[Message] = []

            async def keep(message: Message) -> None:
                answer.append(message)

            await self._app(scope, receive, keep)
            self._answers[path] = answer
        return self._answers[path]
