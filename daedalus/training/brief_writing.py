"""What language models read and may write when they design from briefs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from daedalus.design.briefs.answers import (
    mechanism_pattern_for,
    neighbour_answer,
    reading_pattern,
)
from daedalus.design.language.prompt import Message
from daedalus.market.mechanism_schema import values_pattern
from daedalus.training.constrained import Constraint, constraint_of, vocabulary_of
from daedalus.training.model import LanguageModel

_SYSTEM = "Say what each sentence asks for, then set the auction."
_AT_ONCE = "Set the auction as the seller asks."
_REMEMBERED = 4096  # constraints


def brief_chat(brief: str, at_once: bool) -> list[Message]:
    """Return the prompt of a brief.

    Args:
        brief: The sentences.
        at_once: Whether the answer is the mechanism alone.
    """
    system = _AT_ONCE if at_once else _SYSTEM
    return [{"role": "system", "content": system}, {"role": "user", "content": brief}]


class BriefWriting:
    """Which answers a model may write to briefs, and which are neighbours.

    A model that reads first says a meaning for each sentence. Then it writes one of the mechanisms
    that these allow. So it cannot break a rule that it has understood.

    Args:
        language_model: The model that writes.
        at_once: Whether it writes the mechanism alone.
    """

    def __init__(self, language_model: LanguageModel, at_once: bool) -> None:
        self._tokenizer, self.at_once = language_model.tokenizer, at_once
        self._vocabulary, self._size = vocabulary_of(language_model.model, language_model.tokenizer)
        self.allow_brief = lru_cache(_REMEMBERED)(self._allow_brief)
        self._to = lru_cache(_REMEMBERED)(self._constraint)
        self._ends = self._chat("\0").split("\0")

    def allow(self, prompt: Sequence[int]) -> Constraint:
        """Return what may be written after a prompt, which is given as its tokens."""
        return self.allow_brief(self.brief_of(prompt))

    def change(self, prompt: Sequence[int], answer: str, rng: np.random.Generator) -> str:
        """Return a neighbour of an answer, see ``neighbour_answer``."""
        return neighbour_answer(answer, self.brief_of(prompt), rng)

    def brief_of(self, prompt: Sequence[int]) -> str:
        """Return the brief in a prompt.

        Raises:
            ValueError: The tokenizer does not undo what it did.
        """
        text = str(self._tokenizer.decode(list(prompt)))
        before, after = self._ends
        if not (text.startswith(before) and text.endswith(after)):
            raise ValueError("the tokenizer does not return the prompt that it was given")
        return text[len(before) : len(text) - len(after)]

    def _allow_brief(self, brief: str) -> Constraint:
        if self.at_once:
            return self._to(values_pattern())

        def after(reading: str) -> Constraint:
            return self._to(mechanism_pattern_for(reading, brief))

        pattern = reading_pattern(brief)
        return constraint_of(pattern, self._vocabulary, self._size, after)

    def _constraint(self, pattern: str) -> Constraint:
        return constraint_of(pattern, self._vocabulary, self._size)

    def _chat(self, brief: str) -> str:
        chat = brief_chat(brief, self.at_once)
        template = self._tokenizer.apply_chat_template
        return str(template(chat, tokenize=False, add_generation_prompt=True))
