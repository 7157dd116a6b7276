"""Routes that play an episode in a session: reset, step and state."""

# Annotations are evaluated here, since the model of a reset is built from the catalogue.

from typing import Annotated

from fastapi import APIRouter, Body, Query
from pydantic import create_model

from daedalus.service.http.messages import (
    INVALID,
    UNKNOWN_SESSION,
    Problem,
    ResetAnswer,
    SessionId,
    StepAnswer,
    StepRequest,
)
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.messages import DaedalusObservation, DaedalusState, ResetOptions
from daedalus.service.sessions.store import SessionStore

_FULL = {503: {"model": Problem, "description": "Every session is taken; see Retry-After"}}


def session_routes(catalogue: Catalogue, sessions: SessionStore) -> APIRouter:
    """Return the routes that play episodes by ``session_id``."""
    router = APIRouter(tags=["Sessions"])
    request_model = reset_request(catalogue)
    default = request_model()

    @router.post("/reset", responses=INVALID | _FULL, summary="Begin an episode in a session")
    async def reset(request: Annotated[request_model, Body()] = default) -> ResetAnswer:
        options = request.model_dump(exclude={"session_id"})
        name, observation = sessions.reset(request.session_id, options)
        return ResetAnswer(
            session_id=name,
            observation=_body(observation),
            done=observation.done,
            info=observation.metadata,
        )

    @router.post(
        "/step", responses=INVALID | UNKNOWN_SESSION, summary="Play a step under a mechanism"
    )
    async def step(request: StepRequest) -> StepAnswer:
        observation = sessions.get(request.session_id).step(request.action)
        return StepAnswer(
            observation=_body(observation),
            reward=observation.reward or 0.0,
            done=observation.done,
            info=observation.metadata,
        )

    @router.get(
        "/state", responses=INVALID | UNKNOWN_SESSION, summary="See where an episode stands"
    )
    async def state(session_id: Annotated[SessionId, Query()]) -> DaedalusState:
        return sessions.get(session_id).state

    return router


def reset_request(catalogue: Catalogue) -> type[ResetOptions]:
    """Return the model of a reset over HTTP: the options, and which session."""
    return create_model(
        "ResetRequest",
        __base__=catalogue.options,
        __doc__="How an episode begins, and in which session; None opens a new one.",
        session_id=(SessionId | None, None),
    )


def _body(observation: DaedalusObservation) -> dict[str, object]:
    return observation.model_dump(exclude={"reward", "done", "metadata"})
