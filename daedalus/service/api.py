"""The session API over HTTP: reset, step, state and design."""

# Annotations are evaluated here, since the model of a reset is built from the catalogue.

import time
from collections.abc import Mapping
from typing import Annotated

import numpy as np
from fastapi import APIRouter, Body, Query

from daedalus.designers.base import Designer
from daedalus.market.seeds import generator
from daedalus.service.catalogue import Catalogue
from daedalus.service.designer import BackgroundDesigner
from daedalus.service.errors import FieldError
from daedalus.service.models import (
    INVALID,
    TRAINED,
    Arena,
    DaedalusObservation,
    DaedalusState,
    DesignAnswer,
    DesignerState,
    DesignRequest,
    Problem,
    ResetAnswer,
    Reveal,
    SessionId,
    StepAnswer,
    StepRequest,
)
from daedalus.service.observations import from_request, wire_mechanism
from daedalus.service.sessions import SessionStore

_UNKNOWN = {404: {"model": Problem, "description": "No such session"}}
_FULL = {503: {"model": Problem, "description": "Every session is taken; see Retry-After"}}


def session_api(
    catalogue: Catalogue,
    sessions: SessionStore,
    designer: BackgroundDesigner,
    rules: Mapping[str, Designer],
) -> APIRouter:
    """Return the routes that play episodes by ``session_id``; ``rules`` are designers by name."""
    router = APIRouter(tags=["Sessions"])
    default = catalogue.request()

    @router.post("/reset", responses=INVALID | _FULL, summary="Begin an episode in a session")
    async def reset(request: Annotated[catalogue.request, Body()] = default) -> ResetAnswer:
        options = request.model_dump(exclude={"session_id"})
        name, observation = sessions.reset(request.session_id, options)
        return ResetAnswer(
            session_id=name,
            observation=_body(observation),
            done=observation.done,
            info=observation.metadata,
        )

    @router.post("/step", responses=INVALID | _UNKNOWN, summary="Play a step under a mechanism")
    async def step(request: StepRequest) -> StepAnswer:
        observation = sessions.get(request.session_id).step(request.action)
        return StepAnswer(
            observation=_body(observation),
            reward=observation.reward or 0.0,
            done=observation.done,
            info=observation.metadata,
        )

    @router.get("/state", responses=INVALID | _UNKNOWN, summary="See where an episode stands")
    async def state(session_id: Annotated[SessionId, Query()]) -> DaedalusState:
        return sessions.get(session_id).state

    add_watching_routes(router, sessions)
    add_designer_routes(router, sessions, designer, rules)
    return router


def add_watching_routes(router: APIRouter, sessions: SessionStore) -> None:
    """Add the routes that show more than a designer may see."""

    @router.get(
        "/api/arena", responses=INVALID | _UNKNOWN, summary="Watch the last step's bids by round"
    )
    async def watch(session_id: Annotated[SessionId, Query()]) -> Arena:
        return sessions.get(session_id).arena()

    @router.get(
        "/api/reveal", responses=INVALID | _UNKNOWN, summary="See who the bidders really are"
    )
    async def reveal(session_id: Annotated[SessionId, Query()]) -> Reveal:
        return sessions.get(session_id).reveal()


def add_designer_routes(
    router: APIRouter,
    sessions: SessionStore,
    designer: BackgroundDesigner,
    rules: Mapping[str, Designer],
) -> None:
    """Add the routes that ask a designer."""

    @router.post(
        "/api/design", responses=INVALID | _UNKNOWN, summary="Ask the designer for a mechanism"
    )
    async def design(request: DesignRequest) -> DesignAnswer:
        asked = None if request.session_id is None else sessions.get(request.session_id)
        observation = from_request(request) if asked is None else asked.observe()
        if request.designer == TRAINED:
            return await designer.design(observation)
        began = time.perf_counter()
        if request.designer not in rules:
            known = f"choose one of {', '.join((TRAINED, *rules))}"
            raise FieldError("designer", request.designer, known)
        rng = np.random.default_rng() if asked is None else _repeatable(asked.state)
        return DesignAnswer(
            mechanism=wire_mechanism(rules[request.designer].propose(observation, rng)),
            source="rule",
            status=designer.status,
            latency=time.perf_counter() - began,
        )

    @router.get("/api/designer/status", summary="See whether the trained designer answers")
    async def status() -> DesignerState:
        return designer.state()


def _repeatable(state: DaedalusState) -> np.random.Generator:
    """Return draws that are the same at the same step of the same episode."""
    assert state.seed is not None
    return generator(state.seed, f"service/designer/{state.step_count}")


def _body(observation: DaedalusObservation) -> dict[str, object]:
    return observation.model_dump(exclude={"reward", "done", "metadata"})
