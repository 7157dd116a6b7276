"""Routes that ask a designer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from fastapi import APIRouter, Request

from daedalus.env import Designer
from daedalus.market.seeds import generator
from daedalus.service.http.api_messages import INVALID, UNKNOWN_SESSION, DesignRequest
from daedalus.service.http.unreadable import JsonRoute
from daedalus.service.openenv.errors import FieldError
from daedalus.service.openenv.messages import DaedalusState
from daedalus.service.openenv.observations import from_wire, wire_mechanism
from daedalus.service.sessions.background_designer import BackgroundDesigner
from daedalus.service.sessions.session_messages import TRAINED, DesignAnswer, DesignerState
from daedalus.service.sessions.store import SessionStore


def designer_routes(
    sessions: SessionStore, trained: BackgroundDesigner, designers: Mapping[str, Designer]
) -> APIRouter:
    """Return the routes that ask the trained designer, or one of ``designers`` by name."""
    router = APIRouter(tags=["Sessions"], route_class=JsonRoute)

    @router.post(
        "/api/design",
        responses=INVALID | UNKNOWN_SESSION,
        summary="Ask a designer for a mechanism",
    )
    async def design(request: DesignRequest, http: Request) -> DesignAnswer:
        asked = None if request.session_id is None else sessions.get(request.session_id)
        observation = from_wire(request) if asked is None else asked.episode().observe()
        reward = None if asked is None else asked.episode().env.reward
        if request.designer == TRAINED:
            with leaving(http) as left:
                return await trained.design(observation, left, reward)
        began = time.perf_counter()
        if request.designer not in designers:
            known = f"choose one of {', '.join((TRAINED, *designers))}"
            raise FieldError("designer", request.designer, known)
        rng = np.random.default_rng() if asked is None else _repeatable(asked.state)
        return DesignAnswer(
            mechanism=wire_mechanism(designers[request.designer].propose(observation, rng)),
            source="rule",
            status=trained.status,
            latency=time.perf_counter() - began,
        )

    @router.get("/api/designer/status", summary="Read whether the trained designer is ready")
    async def status() -> DesignerState:
        return trained.state()

    return router


@contextmanager
def leaving(request: Request) -> Iterator[asyncio.Future[None]]:
    """Give what is done when the client of a request has closed its connection."""

    async def wait() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    left = asyncio.ensure_future(wait())
    try:
        yield left
    finally:
        left.cancel()


def _repeatable(state: DaedalusState) -> np.random.Generator:
    """Return random numbers that depend only on the seed and the step of an episode."""
    assert state.seed is not None
    return generator(state.seed, f"service/designer/{state.step_count}")
