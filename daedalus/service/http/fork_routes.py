"""Forks: what mechanisms would earn from where a session stands, over HTTP and over a WebSocket."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Literal

from fastapi import APIRouter, Request
from openenv.core.env_server.http_server import HTTPEnvServer
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import WSErrorCode
from pydantic import ValidationError
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from daedalus.service.http.api_messages import INVALID, UNKNOWN_SESSION, ForkRequest, documented
from daedalus.service.http.limits import visitor_of
from daedalus.service.http.unreadable import JsonRoute, refusal_text
from daedalus.service.openenv.checked_types import Strict
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.errors import CapacityError, EpisodeError, FieldError
from daedalus.service.openenv.messages import ForkAnswer, ForkQuestion
from daedalus.service.sessions.store import SessionStore

TYPE = "fork"
"""Type of a WebSocket's message, and of its answer."""

_TOO_MANY = documented(503, "Too many forks of this address; see Retry-After")
_LEAST_WAIT = 1e-3  # seconds


class ForkAllowance:
    """Bounds the steps that forks of each visitor play in the long run: a bucket for each.

    Args:
        most: Steps that a visitor may play at once, those of one fork.
        per_second: Steps a second that it wins back; None bounds nobody.
        clock: Returns the time, in seconds.
    """

    def __init__(
        self, most: int, per_second: float | None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._per_second = per_second
        self._clock = clock
        self._free_at: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        """Return the number of visitors with steps to win back, of whom something is kept."""
        return len(self._free_at)

    def take(self, visitor: str, steps: int) -> None:
        """Let a visitor play steps.

        Raises:
            CapacityError: It has to wait until it has won back as many.
        """
        if self._per_second is None:
            return
        now = self._clock()
        while self._free_at and next(iter(self._free_at.values())) <= now:
            self._free_at.popitem(last=False)
        whole_at = max(now, self._free_at.get(visitor, now)) + steps / self._per_second
        wait = whole_at - now - self._most / self._per_second
        if wait > _LEAST_WAIT:
            raise CapacityError("your address has forked too much; try again later", wait)
        self._free_at[visitor] = whole_at
        self._free_at.move_to_end(visitor)


def fork_routes(sessions: SessionStore, allowance: ForkAllowance) -> APIRouter:
    """Return the route that compares mechanisms by ``session_id``."""
    router = APIRouter(tags=["Sessions"], route_class=JsonRoute)

    @router.post(
        "/fork",
        responses=INVALID | UNKNOWN_SESSION | _TOO_MANY,
        summary="Compare mechanisms in futures of an episode, which stays where it is",
    )
    async def fork(request: ForkRequest, http: Request) -> ForkAnswer:
        environment = sessions.get(request.session_id)
        return forked(environment, request, visitor_of(http.scope), allowance)

    return router


def forked(
    environment: DaedalusEnvironment, question: ForkQuestion, visitor: str, allowance: ForkAllowance
) -> ForkAnswer:
    """Answer a fork within the visitor's allowance.

    Raises:
        CapacityError: The visitor has to wait.
        EpisodeError: There is no episode to fork, or there are no forks here.
        FieldError: The question is too large.
    """
    environment.check_fork(question)
    allowance.take(visitor, question.steps)
    return environment.fork(question)


class ForkMessage(Strict):
    """A fork on a WebSocket."""

    type: Literal["fork"]
    data: ForkQuestion


_Open = list[tuple["ForkingServer", str, DaedalusEnvironment]]
_opened: ContextVar[_Open | None] = ContextVar("opened", default=None)


class ForkingServer(HTTPEnvServer):
    """OpenEnv's server, which tells ``socket_forks`` the session of each WebSocket."""

    async def _create_session(self) -> tuple[str, Environment[Any, Any, Any]]:
        name, environment = await super()._create_session()
        opened = _opened.get()
        if opened is not None and isinstance(environment, DaedalusEnvironment):
            opened.append((self, name, environment))
        return name, environment

    def keep_alive(self, name: str) -> None:
        """Count a fork as use of the session."""
        self._update_session_activity(name)


def socket_forks(app: ASGIApp, allowance: ForkAllowance) -> ASGIApp:
    """Answer the forks on a WebSocket, and pass all other messages on to OpenEnv.

    OpenEnv knows no such message, and it reads the next one only after it has answered the last.
    So the session does not change meanwhile.
    """

    async def with_forks(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await app(scope, receive, send)
            return
        opened: _Open = []
        _opened.set(opened)  # each connection has a task of its own, and so a context

        async def receive_others() -> Message:
            while (question := _fork(message := await receive())) is not None and opened:
                text = _answer(opened[0], question, visitor_of(scope), allowance)
                await send({"type": "websocket.send", "text": text})
            return message

        await app(scope, receive_others, send)

    return with_forks


def _fork(message: Message) -> dict[str, Any] | None:
    """Return a fork, unchecked; None for all other messages, which OpenEnv answers."""
    text = message.get("text")
    if message["type"] != "websocket.receive" or text is None or f'"{TYPE}"' not in text:
        return None
    try:
        told = json.loads(text)
    except json.JSONDecodeError:
        return None
    return told if told.get("type") == TYPE else None


def _answer(
    opened: tuple[ForkingServer, str, DaedalusEnvironment],
    told: dict[str, Any],
    visitor: str,
    allowance: ForkAllowance,
) -> str:
    """Return the answer to a fork on a WebSocket."""
    server, name, environment = opened
    server.keep_alive(name)
    try:
        question = ForkMessage.model_validate(told).data
        rewards = forked(environment, question, visitor, allowance)
    except ValidationError as error:
        wrong = error.errors(include_url=False, include_context=False, include_input=False)
        return refusal_text("Invalid message", errors=wrong)
    except FieldError as error:
        return refusal_text(str(error))
    except (EpisodeError, CapacityError) as error:
        return refusal_text(str(error), WSErrorCode.EXECUTION_ERROR)
    return json.dumps({"type": TYPE, "data": rewards.model_dump()})
