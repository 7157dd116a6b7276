"""What the service refuses, and how it says so: never with a trace."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

_LONGEST_VALUE = 200  # characters of it that are sent back
_INVALID = "some fields are not valid"
_SIDES = ("body", "query", "path")


class FieldError(ValueError):
    """A field's value cannot be used here; the message names field, value and what is allowed."""

    def __init__(self, field: str, value: object, allowed: str) -> None:
        """Keep the parts beside the sentence."""
        super().__init__(f"{field}: {shown(value)!r} is not allowed; {allowed}")
        self.field = field
        self.value = value
        self.allowed = allowed


class UnknownSessionError(LookupError):
    """There is no such session, or not any more."""


class EpisodeError(RuntimeError):
    """A step or a look without an episode."""


class CapacityError(RuntimeError):
    """Every place is taken."""

    def __init__(self, message: str, retry_after: float) -> None:
        """Keep when to try again, in seconds."""
        super().__init__(message)
        self.retry_after = retry_after


def shown(value: object) -> Any:
    """Return a value as an answer can carry it: short, finite and in valid characters."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, int):
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, dict | list):
        return f"a JSON {'object' if isinstance(value, dict) else 'array'}"
    text = str(value).encode("ascii", "backslashreplace").decode()
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def add_error_handlers(app: FastAPI) -> None:
    """Give every refusal its status: 422 with fields, 404, 409, 503, and 500 without a trace."""

    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        if isinstance(error.body, bytes):  # FastAPI parses what is said to be JSON, and only that
            said = request.headers.get("content-type")
            return _answer(422, _INVALID, [_header_problem(said)])
        return _answer(422, _INVALID, [_problem(each) for each in error.errors()])

    async def refused(request: Request, error: FieldError) -> JSONResponse:
        problem = {"field": error.field, "value": shown(error.value), "allowed": error.allowed}
        return _answer(422, _INVALID, [problem])

    async def unknown(request: Request, error: UnknownSessionError) -> JSONResponse:
        return _answer(404, str(error))

    async def without_episode(request: Request, error: EpisodeError) -> JSONResponse:
        return _answer(409, str(error))

    async def full(request: Request, error: CapacityError) -> JSONResponse:
        answer = _answer(503, str(error))
        answer.headers["Retry-After"] = str(max(1, math.ceil(error.retry_after)))
        return answer

    async def other(request: Request, error: HTTPException) -> JSONResponse:
        return _answer(error.status_code, str(error.detail))

    async def broken(request: Request, error: Exception) -> JSONResponse:
        return _answer(500, "the service failed; its log says why")

    app.add_exception_handler(RequestValidationError, invalid)  # type: ignore[arg-type]
    app.add_exception_handler(FieldError, refused)  # type: ignore[arg-type]
    app.add_exception_handler(UnknownSessionError, unknown)  # type: ignore[arg-type]
    app.add_exception_handler(EpisodeError, without_episode)  # type: ignore[arg-type]
    app.add_exception_handler(CapacityError, full)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, other)  # type: ignore[arg-type]
    app.add_exception_handler(Exception, broken)


def _answer(status: int, message: str, detail: list[dict[str, Any]] | None = None) -> JSONResponse:
    return JSONResponse({"error": message, "detail": detail or []}, status)


def _header_problem(said: str | None) -> dict[str, Any]:
    allowed = "say that the body is JSON: application/json"
    return {"field": "Content-Type", "value": shown(said), "allowed": allowed}


def _problem(error: Mapping[str, Any]) -> dict[str, Any]:
    place = [str(part) for part in error["loc"] if part not in _SIDES]
    if error["type"] == "json_invalid":
        place = []  # where pydantic has the position in the text
    without = error["type"] in ("missing", "json_invalid")
    return {
        "field": shown(".".join(place)) or "body",
        "value": None if without else shown(error.get("input")),
        "allowed": shown(_allowed(error)),
    }


def _allowed(error: Mapping[str, Any]) -> str:
    """Return what to write instead."""
    context = error.get("ctx") or {}
    if error["type"] == "missing":
        return "it is required; give it"
    if "expected" in context:
        return f"choose one of {context['expected']}"
    if error["type"] == "extra_forbidden":
        return "no such field; leave it out"
    if error["type"] == "json_invalid":
        place = error["loc"][-1]
        return f"give valid JSON: {context.get('error', '')} at character {place}"
    return str(error["msg"])
