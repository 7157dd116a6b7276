"""Whether an amount is the least or the most: what was read against the words of a sentence."""

from __future__ import annotations

import re
from dataclasses import replace

from daedalus.design.briefs.clauses import Clause

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
    r"|(?:<=|\u2264|\bmax\.?|\bup to) ?[\d.]",
    "least": rf"{_AT}(?:least|minimum)\b"
    rf"|{_NOT}(?:below|under|less than|lower than)\b"
    r"|(?:>=|\u2265|\bmin\.?) ?[\d.]",
}
_OPPOSITE = {"least": "most", "most": "least"}


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
