"""Routes for people who watch: they show more than a designer may see."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from daedalus.service.http.messages import INVALID, UNKNOWN_SESSION, SessionId
from daedalus.service.sessions import watching
from daedalus.service.sessions.messages import Arena, Reveal
from daedalus.service.sessions.store import SessionStore

_REVEALED = "Read the types and values of the bidders, and the owners of false names"


def watching_routes(sessions: SessionStore) -> APIRouter:
    """Return the routes that show a session's last step and its bidders."""
    router = APIRouter(tags=["Sessions"])

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

    return router
