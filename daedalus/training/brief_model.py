"""A language model that designs from briefs: what it reads, what it may write, and its answers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import torch
from tqdm import tqdm

from daedalus.design.briefs.answers import (
    mechanism_pattern_for,
    neighbour_answer,
    reading_pattern,
)
from daedalus.design.language.prompt import Message
from daedalus.market.mechanism_schema import values_pattern
from daedalus.training.constrained import Constraint, constraint_of, vocabulary_of
from daedalus.training.defaults import rendered
from daedalus.training.generation import complete
from daedalus.training.model import LanguageModel, load_language_model
from daedalus.training.trained_prompt import answers_at_once
from daedalus.training.weight_sources import resolved

_SYSTEM = "Say what each sentence asks for, then set the auction."
_AT_ONCE = "Set the auction as the seller asks."
_REMEMBERED = 4096  # constraints
_BATCH = 16


def brief_chat(brief: str, at_once: bool) -> list[Message]:
    """Return the prompt of a brief; ``at_once`` asks for the mechanism alone."""
    system = _AT_ONCE if at_once else _SYSTEM
    return [{"role": "system", "content": system}, {"role": "user", "content": brief}]


class BriefWriting:
    """Which answers a model may write to briefs, and which are neighbours.

    A model that reads first says a meaning for each sentence. Then it writes one of the mechanisms
    that these allow. So it cannot break a rule that it has understood. One that answers at once
    writes the mechanism alone.
    """

    def __init__(self, language_model: LanguageModel, at_once: bool) -> None:
        self._tokenizer, self.at_once = language_model.tokenizer, at_once
        self._vocabulary = vocabulary_of(language_model.model, language_model.tokenizer)
        self._allow_brief = lru_cache(_REMEMBERED)(self._constraint_of_brief)
        self._to = lru_cache(_REMEMBERED)(lambda pattern: constraint_of(pattern, *self._vocabulary))
        asked = rendered(self._tokenizer, brief_chat("\0", at_once), add_generation_prompt=True)
        self._ends = asked.split("\0")

    def allow(self, prompt: Sequence[int]) -> Constraint:
        """Return what may be written after a prompt, which is given as its tokens."""
        return self._allow_brief(self.brief_of(prompt))

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

    def _constraint_of_brief(self, brief: str) -> Constraint:
        if self.at_once:
            return self._to(values_pattern())

        def after(reading: str) -> Constraint:
            return self._to(mechanism_pattern_for(reading, brief))

        return constraint_of(reading_pattern(brief), *self._vocabulary, after)


class BriefAnswers:
    """Asks a model about briefs, see ``BriefWriting``; at temperature 0 it decodes greedily."""

    def __init__(self, language_model: LanguageModel, temperature: float, at_once: bool) -> None:
        self._language_model, self._temperature = language_model, temperature
        self._writing = BriefWriting(language_model, at_once)
        self.at_once = at_once

    def __call__(self, briefs: Sequence[str], rng: np.random.Generator) -> list[str]:
        """Return an answer to each brief, see ``daedalus.design.briefs.answers``."""
        chats = [brief_chat(each, self.at_once) for each in briefs]
        found: list[str] = []
        starts = range(0, len(chats), _BATCH)
        with torch.random.fork_rng():
            torch.manual_seed(int(rng.integers(2**63)))
            for start in tqdm(starts, "answering briefs", unit="batch", disable=len(starts) < 2):
                part = chats[start : start + _BATCH]
                allow = self._writing.allow
                found += complete(self._language_model, part, self._temperature, 1, allow).texts
        return found


def load_brief_model(checkpoint: str, temperature: float, at_once: bool | None) -> BriefAnswers:
    """Load a model that answers briefs; for the arguments see ``BriefModelSettings``.

    Raises:
        CannotRunError: The weights cannot be had.
        ValueError: The model was trained to answer otherwise.
    """
    folder = resolved(checkpoint)
    trained = answers_at_once(folder)
    if None not in (trained, at_once) and trained != at_once:
        raise ValueError(f"at_once: {checkpoint} was trained with {trained}; leave it out")
    chosen = bool(at_once if trained is None else trained)
    return BriefAnswers(load_language_model(folder), temperature, chosen)
