"""Ranges in sentences: "between 0.2 and 0.5", or "at least 0.2, but no more than 0.5"."""

from __future__ import annotations

import re
from collections.abc import Mapping

from daedalus.design.briefs.amounts import amounts_in, masked
from daedalus.design.briefs.direction import NO, OPPOSITE, X, ends_in, sides_of
from daedalus.design.briefs.meanings import MEANINGS

_TO = r"(?:[-\u2013\u2014]|\bthrough\b|\b(?:up )?to\b(?: and including)?)"
_TOGETHER = re.compile(
    rf"\bbetween {X},? (?:and|to) {X}|(?<!from ){X} ?{_TO} ?{X}|\[ ?{X} ?[,;] ?{X} ?\]"
    rf"|\b(?:any\w*|somewhere|range\w*|runs?|band|reserve|fine|penalty|price|charge|limits?) "
    rf"from {X} ?{_TO} ?{X}"
    rf"|{X} ?[<\u2264][^<\u2264]*[<\u2264]=? ?{X}",
    re.IGNORECASE,
)
_JOINT = re.compile(r"[,;/]|\b(?:and|but|yet|while|nor|or)\b", re.IGNORECASE)
_NO_DEMAND = re.compile(
    r"\b(?:rais|increas|lift|reduc|decreas|mov|chang|refus|reject|usual|typical"
    r"|(?:cut|lower|drop|bring|brought|put|fell|rose|went)\w* (?:it|the|our|from)\b"
    r"|(?:was|were|been|used to|often|outside|except|other|others|but between|rather"
    r"|elsewhere|his own|her own|their own)\b)",
    re.IGNORECASE,
)
"""Words beside two amounts that tell of a change, of the past, of others, or what is refused."""
_TAKEN_BACK = re.compile(
    r"\b(?:forget|ignor|disregard|scrap|repeal|revok|abolish|cancel|strike|no longer)",
    re.IGNORECASE,
)
"""Words of a sentence that may take a range back, wherever they stand in it."""
_LOOSE = {
    "least": r"\b(?:above|over|(?:more|higher|heavier) than|past|pass|exceed\w*|topping|north of"
    r"|min\w*|floor|lowest|lower(?! than)|bottom|low end|least|start\w*|begin\w*)\b",
    "most": r"\b(?:below(?! by)|under|beneath|(?:less|fewer|lower|lighter) than|south of|stop\w*"
    r"|max\w*|ceiling|cap\w*|highest|upper|tops?(?! (?:\w+ )?value)|high end|most)\b",
}
"""Words that say a side where the words beside another amount say the other one."""


def range_by_its_words(
    meaning: str, text: str, sentence: str, probabilities: Mapping[str, float]
) -> list[tuple[str, float, float]]:
    """Return the two meanings that a range has, each with its amount and probability.

    Args:
        meaning: The likeliest meaning of a part of a sentence.
        text: The part.
        sentence: The sentence.
        probabilities: The probability of each meaning.

    Returns:
        The bound from below and that from above. Nothing, if the words name no range or if the
        field of the meaning cannot be bounded from both sides.
    """
    sides = sides_of(meaning)
    ends = range_in(text) if sides and not _TAKEN_BACK.search(sentence) else {}
    same = [each for each in probabilities if MEANINGS[each].bounded == MEANINGS[meaning].bounded]
    sure = sum(probabilities[each] for each in same)
    return [(sides[end], amount, sure) for end, amount in ends.items()]


def range_in(text: str) -> dict[str, float]:
    """Return the least and the most amount that words name; nothing if they name no range."""
    amounts, words = amounts_in(text), masked(text)
    places = [match.span() for match in re.finditer(r"\bsome\b", words)]
    if not len(set(amounts)) == len(places) == 2 or _NO_DEMAND.search(words):
        return {}
    if _TOGETHER.search(words):
        named = () if re.search(NO, words, re.IGNORECASE) else ("least", "most")
        return dict(zip(named, sorted(amounts), strict=False))
    halves = _halves(words, places[0][1], places[1][0])
    ends = dict(zip(map(_end_in, halves), amounts, strict=True))
    if set(ends) != set(OPPOSITE):
        return {}
    if ends["least"] > ends["most"] and not all(map(ends_in, halves)):
        return {}  # less than 0.6 is a joke, and more than 1.8 is robbery
    return {end: ends[end] for end in OPPOSITE}


def _halves(words: str, end: int, start: int) -> tuple[str, str]:
    """Return masked words in two parts, each with one of two amounts.

    Args:
        words: The words.
        end: Where the first amount ends.
        start: Where the second one starts.
    """
    joints = list(_JOINT.finditer(words, end, start))
    if not joints:
        return words[:end], words[end:]
    first, second = words[: joints[-1].start()], words[joints[-1].end() :]
    carried = joints[-1].group().lower() in ("or", "nor") and re.search(NO, first, re.IGNORECASE)
    return first, f"not {second}" if carried else second


def _end_in(words: str) -> str:
    refused = re.search(NO, words, re.IGNORECASE)
    loose = {end for end, each in _LOOSE.items() if re.search(each, words, re.IGNORECASE)}
    named = ends_in(words) or ({OPPOSITE[end] for end in loose} if refused else loose)
    return named.pop() if len(named) == 1 else ""
