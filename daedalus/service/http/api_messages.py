"""Requests and answers of the session API, and its refusals."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from daedalus.evaluation.scale import ENDS
from daedalus.lab.bids.settings import BidLogSettings
from daedalus.service.openenv.checked_types import Strict, text
from daedalus.service.openenv.messages import (
    LONGEST_BRIEF,
    DaedalusAction,
    ForkQuestion,
    PartialObservation,
)
from daedalus.service.sessions.session_messages import MOST_SENTENCES, TRAINED, GivenClause

SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,64}$")]
DesignerName = Annotated[str, Field(pattern=r"^[a-z_]{1,32}$")]
_OF_A_STEP = (
    "seed, population, market and objective of the episode; scores by name; normalised: the reward "
    f"on a scale where {ENDS}, null where this was not measured; understood: what was understood "
    "of a brief; brief_id and verdict of one of the benchmark"
)
Documented = dict[int | str, dict[str, Any]]
"""Answers of an operation by status, for the OpenAPI document."""


class StepRequest(Strict):
    """A step of a session."""

    session_id: SessionId
    action: DaedalusAction


class ForkRequest(ForkQuestion):
    """A fork of a session."""

    session_id: SessionId


class ResetAnswer(Strict):
    """The first observation of an episode, in a form that readers of OpenEnv also understand."""

    session_id: str
    observation: dict[str, Any]
    reward: float | None = None
    done: bool = False
    info: dict[str, Any]


class StepAnswer(Strict):
    """The result of a step."""

    observation: dict[str, Any]
    reward: float
    done: bool
    info: dict[str, Any] = Field(description=_OF_A_STEP)


class DesignRequest(PartialObservation):
    """A question to a designer, with a live session or with a partial observation.

    With a session, a random mechanism depends only on its seed and step, so episodes can be
    repeated. With a brief, a search takes the place of the designer and of the observation.
    """

    designer: DesignerName = Field(TRAINED, description="a name from GET /api/catalogue")
    session_id: SessionId | None = None
    brief: Annotated[str, *text(LONGEST_BRIEF)] | None = Field(
        None, description="what a seller asks for, in sentences; says itself what counts and holds"
    )
    clauses: list[GivenClause] | None = Field(
        None,
        max_length=MOST_SENTENCES,
        description="in place of brief: its sentences with their meanings, perhaps corrected",
    )
    prices: bool = Field(
        False, description="whether to say what each rule of a brief costs; a search for each"
    )


Column = Annotated[str, Field(max_length=200)]


class BidLog(Strict):
    """A log of bids, see ``docs/from-bids.md``."""

    csv: str = Field(description="a header, and a row for each bid")
    name: Column = Field("bids", description="what the report calls the log")
    format: Literal["first_price", "second_price", "ascending"] = Field(
        "first_price", description="how the sales were held"
    )
    auction: Column = Field("auction", description="the column of the sales")
    bid: Column = Field("bid", description="the column of the bids")
    bidder: Column = Field("bidder", description="the column of the bidders, if any; empty is none")
    reserve: Column = Field("reserve", description="the column of the reserves, likewise")
    date: Column = Field("date", description="the column of the dates, likewise")
    separator: Literal[",", ";", "\t", "|"] | None = Field(
        None, description="what stands between cells; null tells it from the header"
    )
    decimal: Literal[".", ","] | None = Field(
        None, description="the decimal mark; null tells it from the numbers"
    )

    @property
    def settings(self) -> BidLogSettings:
        """Return how the log is to be read."""
        return BidLogSettings(**self.model_dump(exclude={"csv", "name"}))


class BidReport(Strict):
    """Where the report on a log of bids and its reserves are, for a while."""

    report: str
    reserves: str


class FieldProblem(BaseModel):
    """One wrong field: its place, the value that was sent, and what is allowed."""

    field: str
    value: Any = None
    allowed: str


class Problem(BaseModel):
    """The reason of a refusal; ``detail`` lists the wrong fields, if any."""

    error: str
    detail: list[FieldProblem] = Field(default_factory=list)


def documented(status: int, reason: str) -> Documented:
    """Return a refusal for the OpenAPI document."""
    return {status: {"model": Problem, "description": reason}}


INVALID = documented(422, "Some fields are not valid")
UNKNOWN_SESSION = documented(404, "No such session")
UNANSWERED = documented(502, "A model that bids gave no bids")
