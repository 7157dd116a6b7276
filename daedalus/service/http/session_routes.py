"""Routes of a session: reset, step and state, and what people who watch may see besides."""

# FastAPI evaluates the annotations here, because the model of a reset is built from the catalogue.

from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request

from daedalus.service.http.api_messages import (
    INVALID,
    UNANSWERED,
    UNKNOWN_SESSION,
    ResetAnswer,
    SessionId,
    StepAnswer,
    StepRequest,
    documented,
)
from daedalus.service.http.designer_routes import leaving
from daedalus.service.http.limits import visitor_of
from daedalus.service.http.unreadable import JsonRoute
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.messages import DaedalusObservation, DaedalusState
from daedalus.service.sessions import watching
from daedalus.service.sessions.briefs import Briefs
from daedalus.service.sessions.session_messages import Arena, Reveal, Truth
from daedalus.service.sessions.store import SessionStore
from daedalus.service.sessions.truth import Truths

_FULL = documented(503, "All sessions are taken, or the reader is not ready; see Retry-After")
_TRUTH = "Read what truthful bids lose in one sale, by format and reserve"
_REVEALED = "Read the types and values of the bidders, and the owners of false names"


def session_routes(catalogue: Catalogue, sessions: SessionStore, briefs: Briefs) -> APIRouter:
    """Return the routes that play episodes by ``session_id``."""
    router = APIRouter(tags=["Sessions"], route_class=JsonRoute)

    class ResetRequest(catalogue.options):  # type: ignore[name-defined,misc]  # made at run time
        """How an episode begins, and its session; without a session, a new one opens."""

        session_id: SessionId | None = None

    default = ResetRequest()

    @router.post("/reset", responses=INVALID | _FULL, summary="Begin an episode in a session")
    async def reset(
        http: Request, request: Annotated[ResetRequest, Body()] = default
    ) -> ResetAnswer:
        options = request.model_dump(exclude={"session_id"})
        if request.brief is not None:
            with leaving(http) as left:
                await briefs.read_ahead(request.brief, left)
        name, observation = sessions.reset(request.session_id, options, visitor_of(http.scope))
        return ResetAnswer(
            session_id=name,
            observation=_body(observation),
            done=observation.done,
            info=observation.metadata,
        )

    @router.post(
        "/step",
        responses=INVALID | UNKNOWN_SESSION | UNANSWERED,
        summary="Play one step under a mechanism",
    )
    async def step(request: StepRequest) -> StepAnswer:
        observation = await sessions.get(request.session_id).step_async(request.action)
        return StepAnswer(
            observation=_body(observation),
            reward=observation.reward or 0.0,
            done=observation.done,
            info=observation.metadata,
        )

    @router.get(
        "/state", responses=INVALID | UNKNOWN_SESSION, summary="Read where an episode stands"
    )
    async def state(session_id: Annotated[SessionId, Query()]) -> DaedalusState:
        return sessions.get(session_id).state

    add_watching(router, sessions)
    return router


def add_watching(router: APIRouter, sessions: SessionStore) -> None:
    """Add what shows a session's last step and its bidders, more than a designer may see."""

    @router.get(
        "/api/arena",
        responses=INVALID | UNKNOWN_SESSION,
        summary="Read the bids of the last step, by round",
    )
    async def watch(session_id: Annotated[SessionId, Query()]) -> Arena:
        return watching.arena(sessions.get(session_id))

    @router.get("/api/reveal", responses=INVALID | UNKNOWN_SESSION, summary=_REVEALED)
    async def reveal(session_id: Annotated[SessionId, Query()]) -> Reveal:
        return watching.reveal(sessions.get(session_id))

    truths = Truths()

    @router.get("/api/truth", responses=INVALID | UNKNOWN_SESSION, summary=_TRUTH)
    async def truth(session_id: Annotated[SessionId, Query()]) -> Truth:
        return await truths.of(sessions.get(session_id))


def _body(observation: DaedalusObservation) -> dict[str, Any]:
    return observation.model_dump(exclude={"reward", "done", "metadata"})
