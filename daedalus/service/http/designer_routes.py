"""Routes that ask a designer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
from fastapi import APIRouter, Request

from daedalus.design.env import Designer, Watcher
from daedalus.market.mechanism import Mechanism
from daedalus.market.observation import Observation
from daedalus.market.seeds import generator
from daedalus.service.http.api_messages import INVALID, UNKNOWN_SESSION, DesignRequest, documented
from daedalus.service.http.brief_design import design_for_brief, has_brief
from daedalus.service.http.limits import visitor_of
from daedalus.service.http.unreadable import JsonRoute
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.openenv.errors import EpisodeError, FieldError
from daedalus.service.openenv.messages import DaedalusState
from daedalus.service.openenv.observations import from_wire
from daedalus.service.sessions.background_designer import BackgroundDesigner, design_answer
from daedalus.service.sessions.briefs import Briefs
from daedalus.service.sessions.made_designers import MadeDesigners
from daedalus.service.sessions.session_messages import TRAINED, DesignAnswer, DesignerState
from daedalus.service.sessions.store import SessionStore

_NOT_READY = documented(503, "The reader of briefs is not ready; see Retry-After")


def designer_routes(
    catalogue: Catalogue,
    sessions: SessionStore,
    trained: BackgroundDesigner,
    designers: Mapping[str, Designer],
    made: MadeDesigners,
    briefs: Briefs,
) -> APIRouter:
    """Return the routes that ask the trained designer, or another one by name, or with a brief.

    ``designers`` play everywhere; those of ``made`` are made for the market, the bidders and the
    objective of a session.
    """
    router = APIRouter(tags=["Sessions"], route_class=JsonRoute)

    @router.post(
        "/api/design",
        responses=INVALID | UNKNOWN_SESSION | _NOT_READY,
        summary="Ask a designer for a mechanism, or for what a brief says",
    )
    async def design(request: DesignRequest, http: Request) -> DesignAnswer:
        asked = None if request.session_id is None else sessions.get(request.session_id)
        if has_brief(request):
            return await for_brief(request, http, asked)
        if request.designer == TRAINED:
            observation = from_wire(request) if asked is None else asked.episode().observe()
            env = None if asked is None else asked.episode().env
            population = None if asked is None else asked.state.population
            with leaving(http) as left:
                return await trained.design(observation, left, env, population)
        began = time.perf_counter()
        designer, error = designers.get(request.designer), None
        if request.designer in made.names:
            session = required(request.designer, asked)
            session.require_simulated()
            env, visitor = session.episode().env, visitor_of(http.scope)
            with leaving(http) as left:
                designer, error = await made.of(request.designer, env, visitor, left)
        elif designer is None:
            known = f"choose one of {', '.join((TRAINED, *designers, *made.names))}"
            raise FieldError("designer", request.designer, known)
        observation = from_wire(request) if asked is None else asked.episode().observe()
        mechanism = None if designer is None else proposal(designer, observation, asked)
        return design_answer(mechanism, "rule", observation, trained.status, began, error=error)

    async def for_brief(
        request: DesignRequest, http: Request, asked: DaedalusEnvironment | None
    ) -> DesignAnswer:
        if asked is None:
            env, observation = catalogue.build(catalogue.options()), from_wire(request)
        else:
            asked.require_simulated()
            env, observation = asked.episode().env, asked.episode().observe()
        visitor, status = visitor_of(http.scope), trained.status
        with leaving(http) as left:
            return await design_for_brief(request, briefs, env, observation, visitor, left, status)

    @router.get("/api/designer/status", summary="Read whether the trained designer is ready")
    async def status() -> DesignerState:
        return trained.state()

    return router


def required(name: str, session: DaedalusEnvironment | None) -> DaedalusEnvironment:
    """Return the session of a designer that cannot do without, or refuse."""
    if session is None:
        raise FieldError("session_id", None, f"{name} needs an episode; name its session")
    return session


def proposal(
    designer: Designer, observation: Observation, session: DaedalusEnvironment | None
) -> Mechanism:
    """Return what a designer proposes for one market.

    A designer that watches episodes needs one that goes on, in which no language model bids.
    """
    if isinstance(designer, Watcher):
        session = required("this designer", session)
        session.require_simulated()
        episode = session.episode()
        if episode.done[0]:
            raise EpisodeError("the episode has ended; reset first")
        designer.watch(episode)  # until the next line, so sessions do not meet
    rng = np.random.default_rng() if session is None else _repeatable(session.state)
    return designer.propose(observation, rng)[0]


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
