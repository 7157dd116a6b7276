"""Requests and answers of the session API, and how it refuses."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from daedalus.service.openenv.messages import DaedalusAction, PartialObservation
from daedalus.service.openenv.ranges import Strict
from daedalus.service.sessions.messages import TRAINED

SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,64}$")]


class StepRequest(Strict):
    """A step of a session."""

    session_id: SessionId
    action: DaedalusAction


class ResetAnswer(Strict):
    """The first observation of an episode, in a form that OpenEnv's readers know, too."""

    session_id: str
    observation: dict[str, Any]
    reward: float | None = None
    done: bool = False
    info: dict[str, Any]


class StepAnswer(Strict):
    """What a step gave."""

    observation: dict[str, Any]
    reward: float
    done: bool
    info: dict[str, Any]


DesignerName = Annotated[str, Field(pattern=r"^[a-z_]{1,32}$")]


class DesignRequest(PartialObservation):
    """Who is asked, and what it is told: a live session, or as much of an observation as there is.

    In a session a random mechanism is that of its seed and step, so that episodes can be repeated.
    """

    designer: DesignerName = Field(TRAINED, description="one that GET /api/catalogue names")
    session_id: SessionId | None = None


class FieldProblem(BaseModel):
    """One field that is wrong: where, what was sent, and what is allowed."""

    field: str
    value: Any = None
    allowed: str


class Problem(BaseModel):
    """Why a request was refused; ``detail`` lists fields if some were wrong."""

    error: str
    detail: list[FieldProblem] = Field(default_factory=list)


INVALID: dict[int | str, dict[str, Any]] = {
    422: {"model": Problem, "description": "The fields that are wrong"}
}
"""How an operation documents that it refuses what is malformed."""

UNKNOWN_SESSION: dict[int | str, dict[str, Any]] = {
    404: {"model": Problem, "description": "No such session"}
}
"""How an operation documents that it needs a session that lives."""
