"""Briefs of visitors: a reader on a thread of its own, and searches in a process of their own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from daedalus.checks import CannotRunError
from daedalus.design.briefs.clauses import Understanding
from daedalus.design.briefs.readers import sentences_of
from daedalus.design.briefs.solver import Answer, answer_in, priced_in
from daedalus.design.env import DesignEnv
from daedalus.design.search.budgets import SearchBudget
from daedalus.service.openenv.briefs_on_offer import BriefsOnOffer
from daedalus.service.openenv.errors import CapacityError, FieldError
from daedalus.service.sessions.session_messages import MOST_SENTENCES
from daedalus.service.sessions.shared_answers import SharedAnswers
from daedalus.service.sessions.worker import Worker, WorkError

_LATER = 5.0  # seconds
_LOG = logging.getLogger(__name__)


class Briefs:
    """Reads briefs and searches mechanisms, one at a time. The first brief waits for the reader.

    Args:
        offer: Reads briefs; None if this server reads none.
        seconds: Longest time of a search, and longest time that a request waits for it.
        timeout: Longest time that a request waits for the reader, in seconds.
        queue: Largest number of different briefs that wait.
        designs: Whether it also searches mechanisms, and not only reads for resets.
    """

    def __init__(
        self,
        offer: BriefsOnOffer | None,
        seconds: float,
        timeout: float,
        queue: int,
        designs: bool = True,
    ) -> None:
        self.offer = offer
        self.available = designs and offer is not None
        self._seconds, self._timeout = seconds, timeout
        self._read: SharedAnswers[Understanding] = SharedAnswers("read", queue)
        self._found: SharedAnswers[Answer] = SharedAnswers("solve", queue)

    async def read_ahead(self, brief: str, left: asyncio.Future[None] | None = None) -> None:
        """Read the brief of a reset that follows at once, as ``understand`` does."""
        if self.offer is not None:
            self.offer.hand_over(brief, await self.understand(brief, left))

    async def understand(
        self, brief: str, left: asyncio.Future[None] | None = None
    ) -> Understanding:
        """Return what a brief asks for.

        Raises:
            CapacityError: The reader is not ready or not here, or too many ask it.
            FieldError: It has too many sentences.
        """
        assert self.offer is not None
        _require_few(brief, len(sentences_of(brief)))
        understand = partial(_understood, self.offer, brief)
        read, error = await self._read.ask_in_words(
            "the reader of briefs (the first brief loads it)",
            brief,
            understand,
            self._timeout,
            left,
        )
        if read is None:
            raise CapacityError(str(error), _LATER)
        _require_few(brief, len(read.sentences))
        return read

    async def answer(
        self,
        understood: Understanding,
        env: DesignEnv,
        visitor: str,
        left: asyncio.Future[None] | None = None,
    ) -> tuple[Answer | None, str | None]:
        """Return the answer to what was understood, or why there is none, in words.

        Args:
            understood: What the brief asks for.
            env: The market of the bidders that the brief tells of.
            visitor: Who asks. Each has one search under way.
            left: Is done when the visitor has left. Then the search ends.
        """
        job = partial(answer_in, env, understood)
        return await self._search("the search", job, understood, env, visitor, left)

    async def priced(
        self,
        answer: Answer,
        env: DesignEnv,
        visitor: str,
        left: asyncio.Future[None] | None = None,
    ) -> tuple[Answer | None, str | None]:
        """Return an answer of ``answer`` with the prices of its rules, or why there is none."""
        job = partial(priced_in, env, answer)
        who = "the search with prices"
        return await self._search(who, job, answer.understood, env, visitor, left)

    async def _search(
        self,
        who: str,
        job: Callable[[int, SearchBudget], Answer],
        understood: Understanding,
        env: DesignEnv,
        visitor: str,
        left: asyncio.Future[None] | None,
    ) -> tuple[Answer | None, str | None]:
        assert self.offer is not None
        worker = Worker(self._seconds)
        search = partial(worker.run, job, self.offer.seed, self.offer.budget)
        question = f"{who} {env.settings} {env.market.population} {understood.sentences}"
        if not self._found.claim(visitor, question):
            return None, "another brief of your address is being answered; ask again in a moment"
        return await self._found.ask_in_words(
            who, question, search, self._seconds, left, worker.close
        )

    def close(self) -> None:
        """End the work under way; a second call changes nothing."""
        self._read.close()
        self._found.close()


def _understood(offer: BriefsOnOffer, brief: str) -> Understanding:
    try:
        return offer.understand(brief)
    except CannotRunError as error:
        _LOG.error("there is no reader of briefs: %s", error)
        raise WorkError("its sentence encoder cannot be had; the server's log says why") from error


def _require_few(brief: str, count: int) -> None:
    if count > MOST_SENTENCES:
        allowed = f"it has {count} sentences or parts of them; send {MOST_SENTENCES} at most"
        raise FieldError("brief", brief, allowed)
