"""Readers of briefs: from sentences to clauses."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from daedalus.design.briefs.amounts import amounts_in
from daedalus.design.briefs.clauses import Clause, Understanding, understand
from daedalus.design.briefs.meanings import MEANINGS, OTHER

_END = re.compile(r"(?<=[.!?;])[\"”)]*\s+(?=\S)|\n+")


Embed = Callable[[Sequence[str]], NDArray[np.float64]]
"""Maps B sentences to features, shape (B, F)."""


class Reader(Protocol):
    """Reads sentences."""

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return what each sentence means, one clause for each."""
        ...


def read(reader: Reader, text: str, least_confidence: float = 0.0) -> Understanding:
    """Return what a brief asks for, as a reader understands it.

    Args:
        reader: It reads the sentences.
        text: The brief.
        least_confidence: A sentence of which the reader is less sure counts as not understood.
    """
    sentences = sentences_of(text)
    clauses = reader.clauses(sentences) if sentences else []
    sure = [each if each.confidence >= least_confidence else _unsure(each) for each in clauses]
    return understand(sure)


def _unsure(clause: Clause) -> Clause:
    return Clause(OTHER, None, clause.sentence, clause.confidence)


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, in order, without the spaces around them."""
    return [each for each in (part.strip() for part in _END.split(text)) if each]


def clause(meaning: str, sentence: str, confidence: float) -> Clause:
    """Return the clause of a sentence whose meaning is known, with the amount that it names.

    Of several amounts the first that the meaning can take counts.
    """
    if not MEANINGS[meaning].takes_amount:
        return Clause(meaning, None, sentence, confidence)
    found = [Clause(meaning, each, sentence, confidence) for each in amounts_in(sentence)]
    usable = [each for each in found if not each.fault]
    return (usable or found or [Clause(meaning, None, sentence, confidence)])[0]
