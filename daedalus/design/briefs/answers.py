"""Answers of language models to briefs, in two parts: what was understood, and the mechanism.

    aim-revenue;reserve-least=0.2;fact-ring|["first_price",0.25,true,…,"penalize_confirmed"]

The first part has a meaning for each sentence, in order. The second has the values of the
mechanism's fields, in order. What the first says decides what the second may hold. An answer *at
once* has the second alone. There are no spaces, which tokenizers treat in many ways.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from daedalus.design.briefs.amounts import amounts_in
from daedalus.design.briefs.brief import Brief
from daedalus.design.briefs.clauses import Clause, Understanding, understand
from daedalus.design.briefs.meanings import MEANINGS
from daedalus.design.briefs.readers import sentences_of
from daedalus.design.search.space import GRID, neighbour
from daedalus.market.goal import Goal
from daedalus.market.mechanism import (
    FIELDS,
    RANGES,
    Mechanism,
    Mechanisms,
    mechanism_from_mapping,
)
from daedalus.market.mechanism_schema import values_pattern


class AnswerBriefs(Protocol):
    """A language model that answers briefs.

    Attributes:
        at_once: Whether its answers have the second part alone.
    """

    at_once: bool

    def __call__(self, briefs: Sequence[str], rng: np.random.Generator) -> list[str]:
        """Return an answer to each brief."""
        ...


_NEXT, _END, _AMOUNT = ";", "|", "="
_SILENT = ("x", "all")  # values of meanings that have but one


def in_words(name: str) -> str:
    """Return the name of a meaning as answers spell it, such as ``winner-told-no``."""
    kind, _, value = name.partition("/")
    parts = [kind] if value in _SILENT else [kind, value]
    return "-".join(parts).replace("_", "-")


_NAMES = {in_words(name): name for name in MEANINGS}


def reading_text(clauses: Sequence[Clause]) -> str:
    """Return the first part of an answer, with its end."""
    return _NEXT.join(_spelt(each.meaning, each.amount) for each in clauses) + _END


def values_text(mechanism: Mechanism) -> str:
    """Return the second part of an answer."""
    return json.dumps(list(mechanism.to_dict().values()), separators=(",", ":"))


def answer_text(clauses: Sequence[Clause], mechanism: Mechanism) -> str:
    """Return an answer of both parts."""
    return reading_text(clauses) + values_text(mechanism)


def true_clauses(brief: Brief) -> list[Clause]:
    """Return the true meaning of each sentence of a brief, in order."""
    named = (each.partition(" ") for each in brief.clauses)
    return [Clause(name, float(amount) if amount else None) for name, _, amount in named]


def clauses_in(answer: str, brief: str) -> list[Clause]:
    """Return what an answer's first part says of the sentences of a brief.

    Raises:
        ValueError: It does not say a meaning for each sentence.
    """
    line = answer.partition(_END)[0]
    sentences = sentences_of(brief)
    return [
        _clause(spelt, sentence)
        for spelt, sentence in zip(line.split(_NEXT), sentences, strict=True)
    ]


def mechanism_in(answer: str) -> Mechanism:
    """Return the mechanism of an answer's last part.

    Raises:
        ValueError: There is none.
    """
    values = json.loads(answer.rpartition(_END)[2])
    if not isinstance(values, list) or len(values) != len(FIELDS):
        raise ValueError(f"{answer[:40]!r} holds no list of {len(FIELDS)} values")
    return mechanism_from_mapping(dict(zip(FIELDS, values, strict=True)))


def understood_in(answer: str, brief: str) -> Understanding:
    """Return what an answer's first part asks for; see ``clauses_in`` for its error."""
    return understand(clauses_in(answer, brief))


def reading_pattern(brief: str) -> str:
    """Return a regular expression of the first parts that a brief may get.

    Each sentence gets one meaning. Meanings that take an amount get one of those that stand in the
    sentence. So amounts are read by the rules that all readers share.
    """
    choices = (_choices_of(each) for each in sentences_of(brief))
    return _NEXT.join(choices) + re.escape(_END)


def mechanism_pattern_for(answer: str, brief: str) -> str:
    """Return a regular expression of the second parts that an answer's first part allows."""
    return values_pattern(understood_in(answer, brief).allowed)


def neighbour_answer(answer: str, brief: str, rng: np.random.Generator) -> str:
    """Return an answer with another meaning of one sentence, or another value of one field.

    The first has the mechanism that is nearest to the answer's among those allowed then. If that
    is the same one, its reward is the same too, and says nothing of the meaning: then a value
    changes instead. So it does in an answer at once.
    """
    mechanism = mechanism_in(answer)
    if _END not in answer:
        return values_text(neighbour(mechanism, rng))
    clauses = clauses_in(answer, brief)
    if rng.random() < 0.5:
        others = _reread(clauses, rng)
        moved = spellable(mechanism, understand(others).goal())
        if moved != mechanism:
            return answer_text(others, moved)
    goal = understand(clauses).goal()
    return answer_text(clauses, spellable(neighbour(mechanism, rng, goal.settings(GRID)), goal))


def spellable(mechanism: Mechanism, goal: Goal) -> Mechanism:
    """Return the nearest mechanism that a goal allows and an answer can spell, in hundredths."""
    rounded = replace(mechanism, **{name: round(getattr(mechanism, name), 2) for name in RANGES})
    return goal.nearest(Mechanisms.stack([rounded]))[0]


def _reread(clauses: Sequence[Clause], rng: np.random.Generator) -> list[Clause]:
    """Return clauses of which one has another meaning."""
    changed = list(clauses)
    place = int(rng.integers(len(clauses)))
    others = [*_possible(clauses[place].sentence)]
    meaning, amount = others[int(rng.integers(len(others)))]
    changed[place] = Clause(meaning, amount, clauses[place].sentence)
    return changed


def _possible(sentence: str) -> Iterator[tuple[str, float | None]]:
    """Yield each meaning that a sentence may have, with each amount."""
    amounts = [*dict.fromkeys(amounts_in(sentence))]
    for name, meaning in MEANINGS.items():
        if not meaning.takes_amount:
            yield name, None
        for amount in amounts if meaning.takes_amount else ():
            if not Clause(name, amount).fault:
                yield name, amount


def _choices_of(sentence: str) -> str:
    spelt = (re.escape(_spelt(*each)) for each in _possible(sentence))
    return f"({'|'.join(spelt)})"


def _spelt(meaning: str, amount: float | None) -> str:
    return in_words(meaning) if amount is None else f"{in_words(meaning)}{_AMOUNT}{amount:g}"


def _clause(spelt: str, sentence: str) -> Clause:
    if spelt in _NAMES:
        return Clause(_NAMES[spelt], None, sentence)
    words, _, amount = spelt.partition(_AMOUNT)
    if words not in _NAMES:
        raise ValueError(f"{spelt!r} is no meaning")
    return Clause(_NAMES[words], float(amount), sentence)
