"""JSON that cannot be read, in a body or on a WebSocket: the sender is told why, and where."""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from openenv.core.env_server.types import WSErrorCode, WSErrorResponse
from pydantic_core import from_json
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ENVELOPE = 'send a JSON object with a "type", such as {"type": "state"}'


def json_problem(text: str | bytes) -> str | None:
    """Return why a text cannot be read as JSON, and where; None if it can be read.

    Beside the grammar this bounds the depth (200 arrays or objects) and the length of a number
    (4300 digits), and it refuses unpaired surrogates, which no answer could repeat.
    """
    try:
        from_json(text)
    except ValueError as error:
        return str(error)
    return None


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


def readable_envelopes(app: ASGIApp) -> ASGIApp:
    """Answer unreadable messages of a WebSocket, and pass the others on to the application.

    OpenEnv ends the session at a message that is no object, no text, or too deep to be read.
    """

    async def with_readable(scope: Scope, receive: Receive, send: Send) -> None:
        async def receive_readable() -> Message:
            while (problem := envelope_problem(message := await receive())) is not None:
                text = refusal_text(f"Invalid message: {problem}")
                await send({"type": "websocket.send", "text": text})
            return message

        is_websocket = scope["type"] == "websocket"
        await app(scope, receive_readable if is_websocket else receive, send)

    return with_readable


def envelope_problem(message: Message) -> str | None:
    """Return what is wrong with a message from a client, or None if OpenEnv can read it.

    OpenEnv itself answers a text that is no JSON (``INVALID_JSON``).
    """
    if message["type"] != "websocket.receive":
        return None
    text = message.get("text")
    if text is None:
        return f"a binary message; {_ENVELOPE} as text"
    problem = json_problem(text)
    try:
        envelope: Any = json.loads(text)
    except json.JSONDecodeError:
        return None
    except (ValueError, RecursionError):
        return problem
    return problem if isinstance(envelope, dict) else _ENVELOPE


def refusal_text(
    message: str, code: WSErrorCode = WSErrorCode.VALIDATION_ERROR, **more: Any
) -> str:
    """Return the answer of OpenEnv to a message that it refuses."""
    return WSErrorResponse(data={"message": message, "code": code, **more}).model_dump_json()
