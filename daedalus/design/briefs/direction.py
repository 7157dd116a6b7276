"""Whether an amount is the least or the most: what was read against the words of a sentence."""

from __future__ import annotations

import re
from dataclasses import replace

from daedalus.design.briefs.clauses import Clause

_NOT = (
    r"\b(?:not|never|no|cannot|mustn['\u2019]t|can['\u2019]t|won['\u2019]t|don['\u2019]t) (?:\w+ )?"
)
_AT = r"(?<!worth )\bat (?:the )?(?:very )?"
_WORDS = {
    "most": rf"\bor (?:lower|less|below|under)\b|{_AT}(?:most|outside|maximum)\b"
    rf"|{_NOT}(?:exceed|above|over|more than|higher than)\b|<=|\u2264",
    "least": rf"\bor (?:higher|more|above|over|upwards?)\b|{_AT}(?:least|minimum)\b"
    rf"|{_NOT}(?:below|under|less than|lower than)\b|>=|\u2265",
}
_OPPOSITE = {"least": "most", "most": "least"}


def with_direction_checked(clause: Clause) -> Clause:
    """Return a clause, in doubt if its words bound its amount from the other side alone.

    A reader may take "0.5 or lower" for a least amount, which is the opposite of what is asked.
    """
    parts = clause.parts
    if not parts.takes_amount or parts.bound == "exact" or clause.fault:
        return clause
    said = {end for end, words in _WORDS.items() if re.search(words, clause.sentence, re.I)}
    if said != {_OPPOSITE[parts.bound]}:
        return clause
    (end,) = said
    return replace(clause, doubt=f"its words say at {end}, and it was taken for at {parts.bound}")
