"""Whether an amount is the least or the most: what was read against the words of a sentence."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.meanings import MEANINGS

_NOT = r"(?:\b(?:not|never|no|cannot)|n['\u2019]t) (?:\w+ ){0,2}?"
_REFUSED = re.compile(r"\b(?:not|no|never|nothing|rather|reject\w*|refus\w*)\b|n['\u2019]t\b", re.I)
_AT = r"(?<!worth )\bat (?:the )?(?:very )?"
_OR = {
    "most": r"\bor (?:lower|less|below|under)\b",
    "least": r"\bor (?:higher|more|above|over|upwards?)\b",
}
_WORDS = {
    "most": rf"{_AT}(?:most|outside|maximum)\b"
    rf"|{_NOT}(?:exceed\w*|above|over|more than|higher than)\b"
    r"|(?:<=|\u2264|\bmax\.?|\bup to) ?[\d.]|[\d%] ?max\b|\bceiling\b|\btops\b(?! \w)",
    "least": rf"{_AT}(?:least|minimum)\b"
    rf"|{_NOT}(?:below|under|less than|lower than)\b"
    r"|(?:>=|\u2265|\bmin\.?) ?[\d.]",
}
_OPPOSITE = {"least": "most", "most": "least"}
_SIDES = {
    (each.bounded, each.bound): name
    for name, each in MEANINGS.items()
    if each.bounded and each.bound != "exact" and not each.on_ring
}
"""The meaning that bounds a field from one side."""


def on_the_side_of_its_words(
    meaning: str, text: str, probabilities: Mapping[str, float]
) -> tuple[str, float]:
    """Return a meaning and its probability, given the side from which words bound an amount.

    A reader may know that a sentence bounds the reserve, and not from which side. Where the words
    name one side alone, what it gave to the other side belongs to this one.

    Args:
        meaning: The likeliest meaning.
        text: The words.
        probabilities: The probability of each meaning.
    """
    bounded, said = MEANINGS[meaning].bounded, _ends_in(text)
    sides = [_SIDES.get((bounded, end)) for end in ("least", "most")]
    if meaning not in sides or None in sides or len(said) != 1:
        return meaning, probabilities[meaning]
    (end,) = said
    return _SIDES[bounded, end], sum(probabilities[each] for each in sides if each)


def with_direction_checked(clause: Clause) -> Clause:
    """Return a clause, in doubt if its words bound its amount from the other side alone.

    A reader may take "0.5 or lower" for a least amount, which is the opposite of what is asked.
    """
    parts = clause.parts
    if not parts.takes_amount or parts.bound == "exact" or clause.fault:
        return clause
    said = _ends_in(clause.sentence)
    if said != {_OPPOSITE[parts.bound]}:
        return clause
    (end,) = said
    return replace(clause, doubt=f"its words say at {end}, and it was taken for at {parts.bound}")


def _ends_in(sentence: str) -> set[str]:
    """Return which ends a sentence names; what it refuses, as "not 0.3 or below", says nothing."""
    refused = _REFUSED.search(sentence)
    alone = {} if refused else _OR
    return {
        end
        for names in (_WORDS, alone)
        for end, words in names.items()
        if re.search(words, sentence, re.I)
    }
