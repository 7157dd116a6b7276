"""The session API over HTTP: reset, step, state and design."""

# Annotations are evaluated here, since the model of a reset is built from the catalogue.

from typing import Annotated

from fastapi import APIRouter, Body, Query

from daedalus.service.catalogue import Catalogue
from daedalus.service.designer import BackgroundDesigner
from daedalus.service.models import (
    DaedalusObservation,
    DaedalusState,
    DesignAnswer,
    DesignerState,
    DesignRequest,
    Problem,
    ResetAnswer,
    SessionId,
    StepAnswer,
    StepRequest,
)
from daedalus.service.observations import from_request
from daedalus.service.sessions import SessionStore

_INVALID = {422: {"model": Problem, "description": "The fields that are wrong"}}
_UNKNOWN = {404: {"model": Problem, "description": "No such session"}}
_FULL = {503: {"model": Problem, "description": "Every session is taken; see Retry-After"}}


def session_api(
    catalogue: Catalogue, sessions: SessionStore, designer: BackgroundDesigner
) -> APIRouter:
    """Return the routes that play episodes by ``session_id``."""
    router = APIRouter(tags=["Sessions"])
    default = catalogue.request()

    @router.post("/reset", responses=_INVALID | _FULL, summary="Begin an episode in a session")
    async def reset(request: Annotated[catalogue.request, Body()] = default) -> ResetAnswer:
        options = request.model_dump(exclude={"session_id"})
        name, observation = sessions.reset(request.session_id, options)
        return ResetAnswer(
            session_id=name,
            observation=_body(observation),
            done=observation.done,
            info=observation.metadata,
        )

    @router.post("/step", responses=_INVALID | _UNKNOWN, summary="Play a step under a mechanism")
    async def step(request: StepRequest) -> StepAnswer:
        observation = sessions.get(request.session_id).step(request.action)
        return StepAnswer(
            observation=_body(observation),
            reward=observation.reward or 0.0,
            done=observation.done,
            info=observation.metadata,
        )

    @router.get("/state", responses=_INVALID | _UNKNOWN, summary="See where an episode stands")
    async def state(session_id: Annotated[SessionId, Query()]) -> DaedalusState:
        return sessions.get(session_id).state

    add_designer_routes(router, sessions, designer)
    return router


def add_designer_routes(
    router: APIRouter, sessions: SessionStore, designer: BackgroundDesigner
) -> None:
    """Add the routes that ask the trained designer."""

    @router.post(
        "/api/design", responses=_INVALID | _UNKNOWN, summary="Ask the designer for a mechanism"
    )
    async def design(request: DesignRequest) -> DesignAnswer:
        if request.session_id is not None:
            return await designer.design(sessions.get(request.session_id).observe())
        return await designer.design(from_request(request))

    @router.get("/api/designer/status", summary="See whether the trained designer answers")
    async def status() -> DesignerState:
        return designer.state()


def _body(observation: DaedalusObservation) -> dict[str, object]:
    return observation.model_dump(exclude={"reward", "done", "metadata"})
