"""Language models that bid for visitors: known answers at once, others in the background."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial

from daedalus.checks import CannotRunError
from daedalus.design.language_bidders.asking import AskAll, BudgetSpentError, Chat, Recording
from daedalus.service.openenv.errors import BiddersError, UnansweredError, UnrecordedError
from daedalus.service.sessions.shared_answers import SharedAnswers
from daedalus.service.sessions.worker import WorkError

_WHO = "the language model that bids"
_SPENT = "this server asks it nothing new any more; play rules under which it has bid"
_UNRECORDED = (
    "the bidders' answers are recorded, and not for these rules; choose rules that the page, or "
    "GET /api/catalogue, lists"
)


class BackgroundBidders:
    """Answers questions that are known, and asks the others on a thread of its own.

    Call it on one thread, that of the event loop. At most ``queue`` requests wait for the model,
    each for ``timeout`` seconds.
    """

    def __init__(self, ask: AskAll, timeout: float, queue: int) -> None:
        self._ask = ask
        self._timeout = timeout
        self._asked: SharedAnswers[list[str]] = SharedAnswers("bidders", queue)
        self._known: dict[str, str] = {}

    def close(self) -> None:
        """Take no more questions."""
        self._asked.close()

    def __call__(self, chats: Sequence[Chat]) -> list[str]:
        """Return the texts of the answers.

        Raises:
            UnansweredError: Some are not known yet.
        """
        keyed = {json.dumps(chat): chat for chat in chats}
        missing = [chat for key, chat in keyed.items() if key not in self._known]
        if missing:
            raise UnansweredError(partial(self._learn, missing))
        return [self._known[json.dumps(chat)] for chat in chats]

    async def _learn(self, chats: list[Chat]) -> None:
        keys = [json.dumps(chat) for chat in chats]
        texts, error = await self._asked.ask_in_words(
            _WHO, json.dumps(keys), partial(self._texts, chats), self._timeout
        )
        if texts is None:
            raise BiddersError(f"{error}; no step was played")
        self._known.update(zip(keys, texts, strict=True))

    def _texts(self, chats: list[Chat]) -> list[str]:
        try:
            return self._ask(chats)
        except BudgetSpentError as error:
            raise WorkError(_SPENT) from error


def recorded_only(recording: Recording) -> AskAll:
    """Return what answers from a recording, and else raises ``UnrecordedError``."""

    def ask(chats: Sequence[Chat]) -> list[str]:
        try:
            return recording(chats)
        except CannotRunError as error:
            raise UnrecordedError(_UNRECORDED) from error

    return ask
