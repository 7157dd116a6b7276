"""Asking a model: each question once, many at a time, within a budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from tqdm import tqdm

from daedalus.checks import CannotRunError
from daedalus.design.language.answer_file import AnswerFile, key_of
from daedalus.design.language.prompt import Message
from daedalus.design.language.reply import Ask, Reply

_PATIENCE = 5.0  # seconds before a progress bar is shown

Chat = list[Message]
AskAll = Callable[[Sequence[Chat]], list[str]]
"""Maps chats to the texts of their answers, in order."""


class BudgetSpentError(CannotRunError):
    """A run may make no more calls. The message says how to go on."""


@dataclass
class Costs:
    """What answers took in this launch.

    Attributes:
        questions: Different questions that came up.
        calls: Calls of the model.
        prompt_tokens: Tokens that it read, as far as the server tells.
        completion_tokens: Tokens that it wrote.
        seconds: Time spent waiting for it.
        refused: Questions whose answer has no words, whether asked now or before.
        reason: Why the first of these has none; empty if all have.
    """

    questions: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    refused: int = 0
    reason: str = ""


@dataclass
class Asker:
    """Asks a model for what is not on disk yet, and writes each answer there.

    Attributes:
        ask: Asks for one answer.
        model: Name of the model.
        options: How it is asked; with model and chat they are the key of an answer.
        answers: The answers that are known; those of a recording are a plain mapping.
        max_calls: Most calls; None is no limit.
        concurrency: Most chats at once.
        costs: What the answers have taken so far.
    """

    ask: Ask
    model: str
    options: Mapping[str, Any]
    answers: AnswerFile | Mapping[str, Reply]
    max_calls: int | None = None
    concurrency: int = 1
    costs: Costs = field(default_factory=Costs)
    _asked: set[str] = field(default_factory=set)
    _refused: set[str] = field(default_factory=set)

    def __call__(self, chats: Sequence[Chat]) -> list[str]:
        """Return the text of the answer to each chat; empty where there is none.

        Raises:
            BudgetSpentError: The budget does not suffice. What it did suffice for is on disk.
            EndpointError: The server fails.
            CannotRunError: A recording lacks an answer.
        """
        keyed = {key_of(self.model, self.options, chat): chat for chat in chats}
        self._asked |= keyed.keys()
        self.costs.questions = len(self._asked)
        missing = {key: chat for key, chat in keyed.items() if self.answers.get(key) is None}
        if missing:
            self._ask_for(missing)
        return [self._text(key_of(self.model, self.options, chat)) for chat in chats]

    def _text(self, key: str) -> str:
        """Return the text of a reply; one that has no words is counted, once for each key."""
        reply = self.answers.get(key)
        assert reply is not None
        if reply.reason:
            self._refused.add(key)
            self.costs.refused = len(self._refused)
            self.costs.reason = self.costs.reason or reply.reason
        return reply.text

    def _ask_for(self, missing: Mapping[str, Chat]) -> None:
        left = None if self.max_calls is None else max(self.max_calls - self.costs.calls, 0)
        allowed = dict(islice(missing.items(), left))
        since = time.monotonic()
        with ThreadPoolExecutor(self.concurrency) as pool:
            replies = pool.map(self._one, allowed.items())
            for reply in tqdm(
                replies, "bidders", len(allowed), leave=False, delay=_PATIENCE, disable=None
            ):
                self.costs.calls += 1
                self.costs.prompt_tokens += reply.prompt_tokens
                self.costs.completion_tokens += reply.completion_tokens
        self.costs.seconds += time.monotonic() - since
        if len(allowed) < len(missing):
            raise BudgetSpentError(
                f"bidder.max_calls: all {self.max_calls} calls are made, and their answers kept; "
                "run the same command with resume=true for as many more"
            )

    def _one(self, item: tuple[str, Chat]) -> Reply:
        """Ask for one answer, with a seed of its own, and keep it."""
        key, chat = item
        assert isinstance(self.answers, AnswerFile)
        reply = self.ask(chat, int(key[:7], 16))
        self.answers.add(self.model, self.options, chat, reply)
        return reply


def _nobody(chat: Chat, seed: int) -> Reply:
    raise AssertionError("a recording asks nobody")


class Recording(Asker):
    """Answers that were recorded. It asks nobody.

    Args:
        replies: Answers by the key of their chat, see ``recorded_answers``.
        name: Name of the recording, for messages.
    """

    def __init__(self, replies: Mapping[str, Reply], name: str) -> None:
        super().__init__(_nobody, "", {}, replies)
        self._name = name

    def _ask_for(self, missing: Mapping[str, Chat]) -> None:
        raise CannotRunError(
            f"bidder.file: {self._name} lacks {len(missing)} answers of this round; play what was "
            "recorded, with the same settings and seed, or choose bidder=endpoint or local"
        )
