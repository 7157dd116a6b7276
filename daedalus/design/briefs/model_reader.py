"""A language model that reads briefs, as a reader of single sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from daedalus.checks import CannotRunError
from daedalus.design.briefs.answers import AnswerBriefs, clauses_in
from daedalus.design.briefs.clauses import Clause
from daedalus.market.seeds import generator

_UNTOLD = float("nan")
"""How sure it is: its answers do not say."""


class ModelReader:
    """Asks a language model about each sentence as a brief of its own, see ``Reader``.

    Args:
        ask: The model. It should decode greedily: each call draws from the same seed.

    Raises:
        CannotRunError: The model sets mechanisms at once.
    """

    def __init__(self, ask: AnswerBriefs) -> None:
        if ask.at_once:
            raise CannotRunError("this model was trained at once: it does not say what it reads")
        self._ask = ask

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return what sentences mean, in order."""
        answers = self._ask(sentences, generator(0, "model reader"))
        found = zip(answers, sentences, strict=True)
        return [replace(each, confidence=_UNTOLD) for pair in found for each in clauses_in(*pair)]
