"""Messages of a WebSocket that OpenEnv cannot read: refused here, so that the session goes on."""

from __future__ import annotations

import json
from typing import Any

from openenv.core.env_server.types import WSErrorCode, WSErrorResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from daedalus.service.http.json_text import json_problem

_ENVELOPE = 'send a JSON object with a "type", such as {"type": "state"}'


class ReadableEnvelopes:
    """Middleware that answers unreadable messages of a WebSocket, and passes the others on.

    OpenEnv ends the session at a message that is no object, no text, or too deep to be read.

    Args:
        app: The application that reads the messages.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a WebSocket; leave other requests as they are."""

        async def receive_readable() -> Message:
            while (problem := envelope_problem(message := await receive())) is not None:
                await send({"type": "websocket.send", "text": _refusal(problem)})
            return message

        is_websocket = scope["type"] == "websocket"
        await self._app(scope, receive_readable if is_websocket else receive, send)


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


def _refusal(problem: str) -> str:
    told = {"message": f"Invalid message: {problem}", "code": WSErrorCode.VALIDATION_ERROR}
    return WSErrorResponse(data=told).model_dump_json()
