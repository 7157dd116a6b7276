"""The answer to a brief: what was understood, and the mechanism that a search finds for it."""

from __future__ import annotations

import asyncio
import math
import time
from dataclasses import replace

import numpy as np

from daedalus.design.briefs.clauses import Clause, Reading, Understanding, understand
from daedalus.design.briefs.solver import Answer
from daedalus.design.env import DesignEnv
from daedalus.market.allowed import written_allowed
from daedalus.market.observation import Observation
from daedalus.service.http.api_messages import DesignRequest
from daedalus.service.openenv.errors import FieldError
from daedalus.service.sessions.background_designer import design_answer
from daedalus.service.sessions.briefs import Briefs
from daedalus.service.sessions.session_messages import (
    BriefAnswer,
    DesignAnswer,
    DesignerStatus,
    Excluded,
    GivenClause,
    ReadSentence,
)

_TAKEN = {"brief", "clauses", "prices", "session_id"}


def has_brief(request: DesignRequest) -> bool:
    """Return whether a request has a brief, in sentences or in clauses.

    Raises:
        FieldError: It asks for prices of rules without one.
    """
    given = request.brief is not None or request.clauses is not None
    if request.prices and not given:
        raise FieldError("prices", True, "rules of a brief have prices; send one, or leave it out")
    return given


async def design_for_brief(
    request: DesignRequest,
    briefs: Briefs,
    env: DesignEnv,
    observation: Observation,
    visitor: str,
    left: asyncio.Future[None],
    status: DesignerStatus,
) -> DesignAnswer:
    """Return the answer to a brief.

    Args:
        request: It has a brief.
        briefs: They read and search.
        env: The market, and the bidders if the brief tells of none.
        observation: What the heuristic designer reacts to if the search fails.
        visitor: Who asks.
        left: Is done when the visitor has left.
        status: Of the trained designer.

    Raises:
        FieldError: The brief or its clauses are not valid, or come with what they replace.
        CapacityError: The reader is not ready.
    """
    began = time.perf_counter()
    _check(request, briefs, env)
    understood = await _understood(request, briefs, left)
    assert briefs.offer is not None
    market = briefs.offer.market(env, understood.population)
    answer, error = await briefs.answer(understood, market, visitor, left)
    if request.prices and answer is not None:
        priced, error = await briefs.priced(answer, market, visitor, left)
        answer = priced or answer
    obeying = replace(observation, goals=np.full(1, understood.goal()))
    mechanism = None if answer is None else answer.mechanism
    more = {"error": error, "note": _note(understood, env), "brief": told_of(understood, answer)}
    return design_answer(mechanism, "rule", obeying, status, began, **more)


def _check(request: DesignRequest, briefs: Briefs, env: DesignEnv) -> None:
    """Refuse a brief that cannot be answered, or comes with what it replaces."""
    name = "brief" if request.brief is not None else "clauses"
    if not briefs.available:
        raise FieldError(name, "…", "this server reads no briefs; leave it out")
    if request.brief is not None and request.clauses is not None:
        raise FieldError("clauses", request.clauses, "they take the place of brief; send one")
    for other in sorted(request.model_fields_set - _TAKEN):
        allowed = f"a {name} says itself what counts and is answered without it; leave it out"
        raise FieldError(other, getattr(request, other), allowed)
    if env.goal.allowed:
        allowed = "the episode has restrictions of its own, which a brief replaces; begin another"
        raise FieldError(name, "…", allowed)


async def _understood(
    request: DesignRequest, briefs: Briefs, left: asyncio.Future[None]
) -> Understanding:
    if request.clauses is not None:
        given = enumerate(request.clauses)
        return understand([_clause(f"clauses.{place}.amount", each) for place, each in given])
    assert request.brief is not None
    return await briefs.understand(request.brief, left)


def _clause(field: str, given: GivenClause) -> Clause:
    """Return a clause as it was sent; refuse an amount that is missing, wrong, or not taken."""
    clause = Clause(given.meaning, given.amount, given.sentence, given.sure, given.doubt)
    if clause.doubt:
        return clause
    if given.amount is not None and not clause.parts.takes_amount:
        raise FieldError(field, given.amount, f"{given.meaning} takes none; leave it out")
    if clause.parts.takes_amount and clause.fault:
        raise FieldError(field, given.amount, f"{given.meaning}: {clause.fault}")
    return clause


def told_of(understood: Understanding, answer: Answer | None) -> BriefAnswer:
    """Return what to tell of a brief, and of what a search found, unless it failed."""
    return BriefAnswer(
        sentences=[_sentence(each, understood, answer) for each in understood.readings],
        contradictions=[
            Excluded(first=each.first.sentence, second=each.second.sentence, about=each.about)
            for each in understood.contradictions
        ],
        reward=dict(understood.reward),
        allowed=written_allowed(understood.allowed),
        floors=dict(understood.floors),
        population=understood.population or None,
        objective=None if answer is None else answer.objective,
        terms={} if answer is None else answer.terms,
        notes=understood.notes,
    )


def _sentence(reading: Reading, understood: Understanding, answer: Answer | None) -> ReadSentence:
    clause = reading.clause
    rules = () if answer is None else answer.rules
    rule = next((each for each in rules if each.clause == clause), None)
    return ReadSentence(
        meaning=clause.meaning,
        amount=clause.amount,
        sentence=clause.sentence,
        sure=clause.confidence,
        doubt=reading.says if reading.use == "unused" else "",
        use=reading.use,
        says=reading.says,
        kept=None if rule is None else rule.kept,
        price=None if rule is None or math.isnan(rule.price) else rule.price,
    )


def _note(understood: Understanding, env: DesignEnv) -> str | None:
    """Return for what the mechanism was searched, if the episode has another aim or bidders."""
    parts = []
    if dict(understood.reward) != env.goal.weights:
        weights = understood.reward.items()
        aim = " + ".join(name if weight == 1 else f"{weight:g} {name}" for name, weight in weights)
        parts.append(f"to maximise {aim}")
    if understood.population:
        parts.append(f"among the bidders of {understood.population}")
    return f"it was searched {' '.join(parts)}, not as the episode scores" if parts else None
