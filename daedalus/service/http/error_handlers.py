"""The answer to every error: a status and a sentence, never a trace."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from daedalus.service.openenv.errors import (
    BiddersError,
    CapacityError,
    EpisodeError,
    FieldError,
    UnrecordedError,
    shown,
)
from daedalus.service.sessions.store import UnknownSessionError

_INVALID = "some fields are not valid"
_SIDES = ("body", "query", "path")
CLOSE = {"Connection": "close"}


def refusal(
    status: int,
    reason: str,
    detail: Sequence[dict[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Return an answer in the form of all errors; ``detail`` has the wrong fields, if any."""
    return JSONResponse({"error": reason, "detail": list(detail)}, status, headers)


async def turn_away(
    status: int,
    reason: str,
    scope: Scope,
    receive: Receive,
    send: Send,
    headers: Mapping[str, str] | None = None,
) -> None:
    """Refuse a request before any route sees it, and close; a WebSocket's handshake too."""
    answer = refusal(status, reason, headers=CLOSE | dict(headers or {}))
    await answer(scope, receive, send)


def add_error_handlers(app: FastAPI) -> None:
    """Give every error its status: 422 with the fields, 404, 409, 502, 503, or 500."""

    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        if isinstance(error.body, bytes):  # FastAPI parses only bodies that are declared as JSON
            said = request.headers.get("content-type")
            return refusal(422, _INVALID, [_header_problem(said)])
        return refusal(422, _INVALID, [_problem(each) for each in error.errors()])

    async def refused(request: Request, error: FieldError) -> JSONResponse:
        problem = {"field": error.field, "value": shown(error.value), "allowed": error.allowed}
        return refusal(422, _INVALID, [problem])

    async def without(request: Request, error: UnknownSessionError | EpisodeError) -> JSONResponse:
        return refusal(404 if isinstance(error, UnknownSessionError) else 409, str(error))

    async def unanswered(request: Request, error: BiddersError) -> JSONResponse:
        return refusal(422 if isinstance(error, UnrecordedError) else 502, str(error))

    async def full(request: Request, error: CapacityError) -> JSONResponse:
        seconds = max(1, math.ceil(error.retry_after))
        return refusal(503, str(error), headers={"Retry-After": str(seconds)})

    async def other(request: Request, error: HTTPException) -> JSONResponse:
        return refusal(error.status_code, str(error.detail))

    async def broken(request: Request, error: Exception) -> JSONResponse:
        return refusal(500, "the service failed; its log has the reason")

    answers: dict[type[Exception], Callable[[Request, Any], Awaitable[JSONResponse]]] = {
        RequestValidationError: invalid,
        FieldError: refused,
        UnknownSessionError: without,
        EpisodeError: without,
        BiddersError: unanswered,
        CapacityError: full,
        HTTPException: other,
        Exception: broken,
    }
    for kind, answer in answers.items():
        app.add_exception_handler(kind, answer)


def _header_problem(said: str | None) -> dict[str, Any]:
    allowed = "declare the body as JSON: application/json"
    return {"field": "Content-Type", "value": shown(said), "allowed": allowed}


def _problem(error: Mapping[str, Any]) -> dict[str, Any]:
    place = [str(part) for part in error["loc"] if part not in _SIDES]
    if error["type"] == "json_invalid":
        place = []  # FastAPI puts a position in the text here
    without = error["type"] in ("missing", "json_invalid")
    return {
        "field": shown(".".join(place)) or "body",
        "value": None if without else shown(error.get("input")),
        "allowed": shown(_allowed(error)),
    }


def _allowed(error: Mapping[str, Any]) -> str:
    """Return what the client should write instead."""
    context = error.get("ctx") or {}
    if error["type"] == "missing":
        return "this field is required; add it"
    if "expected" in context:
        return f"choose one of {context['expected']}"
    if error["type"] == "extra_forbidden":
        return "no such field; leave it out"
    if error["type"] == "json_invalid":
        return f"give valid JSON: {context.get('error', '')}"
    return str(error["msg"])
