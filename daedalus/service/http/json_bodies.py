"""Bodies in JSON: whatever cannot be read gets the reason and the place."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from daedalus.service.http.json_text import json_problem


class JsonRequest(Request):
    """A request whose body may be too deep, hold too long a number, or be no text."""

    async def json(self) -> Any:
        """Return what the body says.

        Raises:
            JSONDecodeError: The body cannot be read; the message names the place. FastAPI gives
                no reason for the other errors that Python has here.
        """
        try:
            return await super().json()
        except (ValueError, RecursionError) as error:
            problem = json_problem(await self.body()) or "it cannot be read"
            raise json.JSONDecodeError(problem, "", 0) from error


class JsonRoute(APIRoute):
    """A route that takes ``JsonRequest``."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of the route."""
        handle = super().get_route_handler()

        async def handle_json(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return handle_json
