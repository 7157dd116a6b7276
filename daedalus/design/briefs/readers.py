"""Readers of briefs: from sentences to clauses."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from daedalus.design.briefs.amounts import amounts_in, masked
from daedalus.design.briefs.clauses import Clause, Understanding, understand
from daedalus.design.briefs.meanings import MEANINGS, NOTHING, OTHER
from daedalus.design.briefs.named import BESIDE

_SHORT = r"(?<!\bMr)(?<!\bMrs)(?<!\bDr)(?<!\bSt)(?<!\bNo)(?<!\bNr)(?<!\bmin)(?<!\bmax)(?<!\bres)"
_SHORT += r"(?<!\bRes)(?<!\bca)(?<!\bapprox)(?<!e\.g)(?<!i\.e)(?<!^\d)(?<!\n\d)"
_END = re.compile(
    rf"(?:{_SHORT}[.]|[!?…。])[\"'”\u2019)]*\s+(?=\S)"  # the end of a sentence, and a gap
    r"|(?<=[a-z])\.(?=[A-Z][a-z])"  # the gap was forgotten
    r"|\n\s*\n\s*|\n\s*(?=[-*•]\s|\d+[.)]\s)"  # a paragraph, or a point of a list
)
_AFTER_IT = " !.…)\"'”\u2019"  # what may follow a question mark
_POINT = re.compile(r"^(?:[-*•]|\d+[.)])\s+")
_MAY = "(?:may|might|can|could|will|should)"
_OPEN = re.compile(rf"\b{_MAY} or (?:{_MAY} )?not\b", re.IGNORECASE)
_LONGEST = 600
"""Characters of a sentence that readers take."""

Embed = Callable[[Sequence[str]], NDArray[np.float64]]
"""Maps B sentences to features, shape (B, F)."""


class Reader(Protocol):
    """Reads sentences."""

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return what sentences mean, in order: a clause for each, or for each of its parts."""
        ...


def read(reader: Reader, text: str, least_confidence: float = 0.0) -> Understanding:
    """Return what a brief asks for, as a reader understands it.

    A sentence of which the reader is less sure than ``least_confidence`` is not understood.
    """
    given = sentences_of(text)
    grouped = groupby(given, key=_why_unread)
    clauses = [
        each
        for why, sentences in grouped
        for each in (
            (Clause(OTHER, None, sentence, 0.0, why) for sentence in sentences)
            if why
            else reader.clauses([*sentences])
        )
    ]
    doubted = [_with_doubt(each, least_confidence) for each in clauses]
    return understand(_without_needless(doubted, given))


_OWN_WORDS = 10  # of each meaning
_LEAST_SHARED = 2  # words that a sentence must share with its meaning


class KeywordReader:
    """The simplest reader: it counts the words of each meaning in a sentence.

    The words of a meaning are those that stand more often in its sentences than in the others.
    """

    def __init__(self, examples: Iterable[tuple[str, str]]) -> None:
        pairs = [(_words(sentence), meaning) for sentence, meaning in examples]
        everywhere = Counter(word for words, _ in pairs for word in words)
        self._words: dict[str, set[str]] = {}
        for name in dict.fromkeys(meaning for _, meaning in pairs):
            own = [words for words, meaning in pairs if meaning == name]
            here = Counter(word for words in own for word in words)
            others = max(1, len(pairs) - len(own))
            lead = {
                word: count / len(own) - (everywhere[word] - count) / others
                for word, count in here.items()
            }
            self._words[name] = set(sorted(lead, key=lambda word: (-lead[word], word))[:_OWN_WORDS])

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return the meaning with most words in each sentence; ``nothing`` if all have few."""
        return [clause(self._meaning(each), each, 1.0) for each in sentences]

    def _meaning(self, sentence: str) -> str:
        words = _words(sentence)
        shared = {name: len(own & words) for name, own in self._words.items() if name != NOTHING}
        best = max(shared, key=lambda name: shared[name])
        return best if shared[best] >= _LEAST_SHARED else NOTHING


def _words(sentence: str) -> set[str]:
    return set(re.findall(r"[a-z']+", masked(sentence).lower()))


def _why_unread(sentence: str) -> str:
    """Return why no reader takes a sentence; empty if one may."""
    if len(sentence) > _LONGEST:
        return "it is too long; write it as several sentences"
    if sentence.rstrip(_AFTER_IT).endswith("?"):
        return "it is a question; say what you want"
    if _OPEN.search(sentence):
        return "it leaves both ways open; say what you want"
    return ""


def _with_doubt(clause: Clause, least_confidence: float) -> Clause:
    if clause.confidence < least_confidence and not clause.fault:
        return replace(clause, doubt="the reader is not sure what it asks for; word it otherwise")
    return clause


def _without_needless(clauses: Sequence[Clause], sentences: Sequence[str]) -> list[Clause]:
    """Return clauses without remarks on what is used, or stands in a part that is not used.

    Where several sentences have the words of a remark, each of them must say so by such a part.
    """
    used = {each.meaning for each in clauses if not each.fault}
    unread = [each.sentence for each in clauses if each.fault and each.doubt != BESIDE]

    def is_needless(clause: Clause) -> bool:
        words = clause.sentence
        parts = [each for each in unread if words in each]
        said = (any(part in each for part in parts) for each in sentences if words in each)
        return clause.meaning in used or (bool(parts) and all(said))

    return [each for each in clauses if each.doubt != BESIDE or not is_needless(each)]


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, in order, without the spaces around them.

    A line alone ends no sentence, since texts are broken into lines; a paragraph does, and a point
    of a list.
    """
    ends = [0, *(match.end() for match in _END.finditer(text)), len(text)]
    parts = (" ".join(text[a:b].split()) for a, b in pairwise(ends))
    return [each for each in (_POINT.sub("", part) for part in parts) if each]


def clause(meaning: str, sentence: str, confidence: float) -> Clause:
    """Return the clause of a sentence whose meaning is known, with the amount that it names.

    A sentence that names several amounts which the meaning could take is in doubt.
    """
    if not MEANINGS[meaning].takes_amount:
        return Clause(meaning, None, sentence, confidence)
    amounts = dict.fromkeys(amounts_in(sentence))
    found = [Clause(meaning, each, sentence, confidence) for each in amounts]
    usable = [each for each in found if not each.fault]
    if len(usable) > 1:
        several = ", ".join(f"{each.amount:g}" for each in usable)
        return replace(usable[0], doubt=f"it names several amounts: {several}")
    return (usable or found or [Clause(meaning, None, sentence, confidence)])[0]
