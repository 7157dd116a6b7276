"""From which side the words of a sentence bound its amount: at least, or at most."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from daedalus.design.briefs.amounts import amounts_in, masked
from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.meanings import MEANINGS, PENALTIES

X = r"(?:an? )?some\b"
"""An amount, in a masked sentence."""
NO = (
    r"(?:\b(?:not|never|neither|no|nothing|nobody|cannot|without|(?:do|wo|must)nt)\b|n['\u2019]t\b)"
)
"""Words that refuse something."""
_NOT = rf"{NO} (?:[\w'\u2019]+ ){{0,4}}?"
_BELOW = r"(?:below|under|beneath|south of|(?:less|lower|smaller|lighter) than)\b"
_MORE = "more|higher|greater|bigger|larger|dearer|steeper|stiffer|heavier"
_ABOVE = rf"(?:above|over|beyond|go(?:es)? past|exceed\w*|surpass\w*|(?:{_MORE}) than)\b"
_FINE = "(?:reserve|fine|penalty|fee|charge)"
_REFUSED = re.compile(rf"{NO}|\b(?:rather|reject\w*|refus\w*)\b", re.IGNORECASE)
_OR = {
    "most": [r"\bor (?:\w+ )?(?:lower|less|below|under|beneath|smaller|lighter)\b", f"<=? ?{X}"],
    "least": [rf"\bor (?:\w+ )?(?:{_MORE}|above|over|up\w*|better|worse)\b", f">=? ?{X}"],
}
"""Words of each side. They say nothing where something is refused, as in "not 0.3 or below"."""
_WORDS = {
    "most": [
        r"(?<!worth )\bat (?:the )?(?:very )?(?:most|outside|maximum|highest)\b",
        _NOT + _ABOVE,
        rf"(?:\u2264 ?|\bup to |\bwithin ){X}",
        rf"\b(?:keep (?:\w+ ){{0,2}}|stays? |remains? )(?:below|under|beneath) {X}",
        rf"\bmax(?:imum|es out)?\.?:? ?(?:of |at )?{X}",
        rf"{X} max(?:imum)?\b",
        rf"\b(?:max(?:imum)?|stiffest|steepest|heaviest) {_FINE}",
        r"\bcap(?:s|ped)? |\bceiling (?:of|at|on|for)\b|\bis the ceiling\b",
        r"\bupper (?:limit|bound)|\blimited to\b|\bas high as\b|\btops? out\b|\btops\b(?! \w)",
    ],
    "least": [
        r"\bat (?:the )?(?:very |bare )?(?:least|minimum|lowest)\b",
        _NOT + _BELOW,
        rf"(?:\u2265 ?|\bupwards of |\b(?:start|begin)\w* (?:at|from) ){X}",
        rf"{X}(?: ?\+| (?:and |on )?up(?:wards?)?\b)",
        rf"\bmin(?:\.?:?|imum of) ?{X}",
        rf"{X} min(?:imum)?\b",
        rf"\b(?:minimum|smallest|lightest) {_FINE}",
        r"\blower (?:limit|bound) of|\bas a (?:floor|minimum)\b",
    ],
}
_LIMIT = re.compile(
    r"[\u2264<]|\b(?:above|ample|as far|as much|beyond|below|cap|ceiling|cheap|confin|contain|easy|"
    r"enough|exceed|gentl|high|less|limit|lower|max|mere|more|most|only|outside|over|past|plenty|"
    r"soft|steep|stop|than|tops|under|up to|upper|utmost|within|worst)",
    re.IGNORECASE,
)
"""Beginnings of words of which a sentence has one that names a most. Others may have one, too."""
_BARE_RESERVE = re.compile(
    r"[^\w\u2264\u2265<>]*(?:please )?(?:(?:we|i) (?:want|would like) |with )?"
    r"(?:(?:set|use|make|take|have|let|put|keep|fix) "
    r"|(?:raise|lower|increase|reduce|cut|change) (?=(?:the |our |my )?reserve(?: price)? to\b))?"
    r"(?:(?:the|an?|our|my) )?reserve(?: price)?"
    r"(?: (?:of|at|to|(?:is|(?:must |should |shall |will )?be)(?: set (?:at|to))?))?"
    rf"[ :=(\u2013-]*{X}\)?(?: of the (?:top )?value)?(?:,? please)?[ .,;!]*",
    re.IGNORECASE,
)
"""A masked sentence that names a reserve and no side: all who wrote one meant exactly this."""
_EXACTLY = "reserve_exact/x"
_SHARED = "(?:fairness|evenness|participation|turnout|attendance)"
_BARE_SHARE = re.compile(
    r"\W*(?:and |plus )?(?:mean |average )?"
    rf"(?:{_SHARED}(?: (?:counts|weighs)(?: for)?)?[ :=(\u2013-]*{X}|{X} (?:for )?{_SHARED})"
    r"[ .,;!)]*",
    re.IGNORECASE,
)
"""A masked sentence of a term and an amount, as "fairness 30 %": a floor, or a weight."""
_JOINT = re.compile(r"[,;]|\b(?:and|but|yet|while|nor)\b", re.IGNORECASE)
_CONCEIVABLE = 0.02
"""Least probability of the side that words name: who is surer of the other one may be right."""
_NO_SIDE = "it does not say whether this is the least fine or the most; say at least or at most"
_ABOUT = re.compile(
    rf"\b(?:around|(?<!how )about|roughly|approximately|approx\.?|circa|near|close to) {X}",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"\b(?:floor|min(?:imum)?|lowest|start\w*|opening|ceiling|max(?:imum)?|cap)\b", re.IGNORECASE
)
_NO_LIMIT = "it gives no limit; say at least or at most"
_NO_FLOOR = "if it is the least mean, say at least; how much an aim counts has no amount"
_OTHER_SIDE = "its words may name another limit; give that one a sentence of its own"
OPPOSITE = {"least": "most", "most": "least"}
_SIDES: dict[tuple[str, str], str] = {
    (each.bounded, each.bound): name
    for name, each in MEANINGS.items()
    if each.bounded and each.bound != "exact" and not each.on_ring
}
"""The meaning that bounds a field from one side."""


def on_the_side_of_its_words(
    meaning: str, text: str, sentence: str, probabilities: Mapping[str, float]
) -> tuple[str, float]:
    """Return a meaning and its probability, given the side from which words bound an amount.

    A reader may know that a sentence bounds the reserve, and not from which side. Where the words
    name one side alone, what it gave to the other side belongs to this one, unless it is sure of
    the other one. A bare reserve, as in "Reserve: 0.25", is meant exactly.

    Args:
        meaning: What the reader took the text for.
        text: A sentence, or a part of one.
        sentence: The whole of it.
        probabilities: What the reader gave to each meaning.
    """
    sides, said = sides_of(meaning), ends_in(text)
    if MEANINGS[meaning].bounded == "reserve_price" and _is_bare_reserve(text, sentence):
        return _EXACTLY, sum(probabilities[each] for each in (_EXACTLY, *sides.values()))
    if meaning not in sides.values() or len(said) != 1:
        return meaning, probabilities[meaning]
    named = sides[said.pop()]
    if probabilities[named] < _CONCEIVABLE:
        return meaning, probabilities[meaning]
    return named, sum(probabilities[each] for each in sides.values())


def _is_bare_reserve(text: str, sentence: str) -> bool:
    alone = len(set(amounts_in(sentence))) == 1 and not ends_in(sentence)
    return alone and bool(_BARE_RESERVE.fullmatch(masked(text)))


def with_direction_checked(clause: Clause) -> Clause:
    """Return a clause, in doubt if its words bound its amount from the other side, or from none.

    A reader may take "0.5 or lower" for a least amount, which is the opposite of what is asked. It
    has learnt no fine without a side, and takes "fine them 2" for at most 2, which lets it be 0.
    It takes "fairness 30 %" for a floor, which may be a weight.
    """
    parts = clause.parts
    if parts.floor and not clause.fault and _BARE_SHARE.fullmatch(masked(clause.sentence)):
        return replace(clause, doubt=_NO_FLOOR)
    if not parts.takes_amount or parts.bound == "exact" or clause.fault:
        return clause
    said, end = ends_in(clause.sentence), OPPOSITE[parts.bound]
    if not said and _ABOUT.search(text := masked(clause.sentence)) and not _BOUND.search(text):
        exactly = ", or exactly" if parts.bounded == "reserve_price" else ""
        return replace(clause, doubt=_NO_LIMIT + exactly)
    if said == {end}:
        doubt = f"its words say at {end}, and it was taken for at {parts.bound}"
        return replace(clause, doubt=doubt)
    a_most = said or parts.bound == "least" or _LIMIT.search(masked(clause.sentence))
    return clause if a_most or parts.bounded not in PENALTIES else replace(clause, doubt=_NO_SIDE)


def other_sides(clauses: Sequence[Clause]) -> Iterator[Clause]:
    """Yield a clause in doubt for each bound beside which words name the other side, too.

    Their amount was not found, as in "at least half the value, and never more than all of it".
    """
    for each in clauses:
        sides, bound = sides_of(each.meaning), each.parts.bound
        parts = _JOINT.split(masked(each.sentence))
        said = {end for part in parts if not re.search(X, part) for end in _said(part)}
        if sides and bound != "exact" and not each.fault and OPPOSITE[bound] in said:
            yield replace(each, meaning=sides[OPPOSITE[bound]], amount=None, doubt=_OTHER_SIDE)


def sides_of(meaning: str) -> dict[str, str]:
    """Return what bounds the same field at least and at most; nothing if one of both is not."""
    bounded = MEANINGS[meaning].bounded
    sides = {end: _SIDES[bounded, end] for end in OPPOSITE if (bounded, end) in _SIDES}
    return sides if len(sides) == len(OPPOSITE) else {}


def ends_in(sentence: str) -> set[str]:
    """Return which ends the words of a sentence name: "least", "most", both or none.

    Where both are named beside one amount, the words next to it count: "at least 0.5, but no more
    than it is worth" bounds it from below.
    """
    text = masked(sentence)
    said = _said(text)
    beside = [each for each in _JOINT.split(text) if re.search(X, each)]
    return (_said(beside[0]) or said) if len(said) > 1 and len(beside) == 1 else said


def _said(text: str) -> set[str]:
    known = (_WORDS,) if _REFUSED.search(text) else (_WORDS, _OR)
    return {
        end
        for words in known
        for end, patterns in words.items()
        if any(re.search(each, text, re.IGNORECASE) for each in patterns)
    }
