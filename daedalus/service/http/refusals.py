"""The refusal of a request before any route sees it."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

_LAST = {"Connection": "close"}


async def turn_away(
    status: int,
    reason: str,
    scope: Scope,
    receive: Receive,
    send: Send,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Answer an error in the form of all errors, and close; a WebSocket's handshake too.

    Args:
        status: Status of the answer, 400 or more.
        reason: What is wrong and what to do about it.
        scope: The request or the handshake.
        receive: Receives its messages.
        send: Sends the answer.
        headers: Further headers of the answer.
    """
    answer = JSONResponse({"error": reason, "detail": []}, status, {**_LAST, **(headers or {})})
    await answer(scope, receive, send)
