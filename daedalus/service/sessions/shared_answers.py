"""Answers of slow work: equal questions share one, and a question without askers is dropped."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from daedalus.service.sessions.worker import RefusedError, WorkError

Answer = TypeVar("Answer")

_LOG = logging.getLogger(__name__)


@dataclass
class _Shared(Generic[Answer]):
    """One question under way: its work on the thread, its answer here, and how many wait."""

    work: Future[Answer]
    answer: asyncio.Future[Answer]
    stop: Callable[[], None] | None = None
    askers: int = 0

    def give_up(self) -> bool:
        """End the work; return whether it could be ended."""
        if self.stop is not None:
            self.stop()
        return self.work.cancel() or self.stop is not None


class SharedAnswers(Generic[Answer]):
    """Answers questions, each different one once. Equal ones must have equal answers.

    Args:
        name: Name of the thread that does the work.
        places: Largest number of different questions under way.
        capacity: Number of answers that are kept for those who ask the same later.

    Attributes:
        thread: This thread.
    """

    def __init__(self, name: str, places: int, capacity: int = 256) -> None:
        self.thread = ThreadPoolExecutor(1, name)
        self._places = places
        self._capacity = capacity
        self._under_way: dict[str, _Shared[Answer]] = {}
        self._kept: OrderedDict[str, Answer] = OrderedDict()
        self._claims: dict[str, str] = {}  # the last question of each visitor

    @property
    def waiting(self) -> int:
        """Return the number of different questions under way."""
        return len(self._under_way)

    def has_place(self, question: str) -> bool:
        """Return whether a question may be asked: it has an answer, is under way or has a place."""
        known = question in self._kept or question in self._under_way
        return known or self.waiting < self._places

    def claim(self, visitor: str, question: str) -> bool:
        """Return whether a visitor may ask: it is known, or no other of the same is under way."""
        if question in self._kept:
            return True
        last = self._claims.get(visitor, question)
        if last != question and last in self._under_way:
            return False
        live = {who: each for who, each in self._claims.items() if each in self._under_way}
        self._claims = live | {visitor: question}
        return True

    async def ask(
        self,
        question: str,
        work: Callable[[], Answer],
        timeout: float,
        left: asyncio.Future[None] | None = None,
        stop: Callable[[], None] | None = None,
    ) -> asyncio.Future[Answer]:
        """Return the answer, done or not, when it is there, nobody wants it or time is up.

        If nobody else asks the same, the work of an answer that is not done is cancelled. Without
        ``stop``, work that has begun keeps its place until its end.

        Args:
            question: Equal questions share one answer.
            work: Finds the answer.
            timeout: Longest time to wait, in seconds.
            left: Is done when this asker does not want the answer any more.
            stop: Ends the work that has begun.
        """
        if question in self._kept:
            return self._known(question)
        shared = self._under_way.get(question) or self._begin(question, work, stop)
        shared.askers += 1
        ends: set[asyncio.Future[Any]] = {shared.answer} if left is None else {shared.answer, left}
        try:
            await asyncio.wait(ends, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            shared.askers -= 1
            if not shared.askers and not shared.answer.done() and shared.give_up():
                self._forget(question, shared)
        return shared.answer

    async def ask_in_words(
        self,
        who: str,
        question: str,
        work: Callable[[], Answer],
        timeout: float,
        left: asyncio.Future[None] | None = None,
        stop: Callable[[], None] | None = None,
    ) -> tuple[Answer | None, str | None]:
        """Return the answer as ``ask`` does, or why ``who`` gave none, in words."""
        if not self.has_place(question):
            return None, f"{self.waiting} requests are already waiting for {who}; ask again later"
        answer = await self.ask(question, work, timeout, left, stop)
        if not answer.done():
            return None, f"{who} took longer than {timeout:g} seconds"
        if answer.cancelled():
            return None, f"{who} was stopped; ask again"
        error = answer.exception()
        if isinstance(error, WorkError):
            said = isinstance(error, RefusedError)
            return None, str(error) if said else f"{who} gave up: {error}"
        if error is not None:
            return None, f"{who} failed; the server's log says why"
        return answer.result(), None

    def lookup(self, question: str) -> Answer | None:
        """Return an answer that is kept; None if there is none."""
        return self._kept.get(question)

    def close(self) -> None:
        """End the work under way, and take no more; a second call changes nothing."""
        self.thread.shutdown(wait=False, cancel_futures=True)
        for shared in list(self._under_way.values()):
            if shared.stop is not None:
                shared.stop()

    def _known(self, question: str) -> asyncio.Future[Answer]:
        self._kept.move_to_end(question)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        answer.set_result(self._kept[question])
        return answer

    def _begin(
        self, question: str, work: Callable[[], Answer], stop: Callable[[], None] | None
    ) -> _Shared[Answer]:
        future = self.thread.submit(work)
        shared = _Shared(future, asyncio.wrap_future(future), stop)
        shared.answer.add_done_callback(partial(self._end, question, shared))
        self._under_way[question] = shared
        return shared

    def _forget(self, question: str, shared: _Shared[Answer]) -> None:
        """Give the place of a question back, unless it was asked again since."""
        if self._under_way.get(question) is shared:
            del self._under_way[question]

    def _end(self, question: str, shared: _Shared[Answer], answer: asyncio.Future[Answer]) -> None:
        if answer.cancelled():
            return
        self._forget(question, shared)
        if (error := answer.exception()) is not None:
            if not isinstance(error, WorkError):
                _LOG.error("an answer failed", exc_info=error)
            return
        self._kept[question] = answer.result()
        if len(self._kept) > self._capacity:
            self._kept.popitem(last=False)
