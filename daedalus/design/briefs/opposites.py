"""Facts about bidders whose words say the opposite: "The bidders are liars" is no honesty."""

from __future__ import annotations

import re
from dataclasses import replace

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.direction import NO

_REFUSED = re.compile(
    rf"\b(?:no|not) one\b|{NO}|\b(?:none|hardly|scarcely|seldom|rarely|refus\w*|hates?|despis\w*"
    r"|far from|free of|foreign|stop\w*|unlikely|anything but|instead of|rather than|lack\w*"
    r"|unknown|beneath|too \w+ to|above|neither)\b",
    re.IGNORECASE,
)
"""Words that turn another one round."""
_NO_MORE = re.compile(r"[,;:]|\b(?:and|but)\b", re.IGNORECASE)
"""Where what a refusal turns round ends."""
_NOTHING = re.compile(r" (?:nothing|no|nobody)\b", re.IGNORECASE)
_DISHONEST = re.compile(
    r"\b(?:dishonest\w*|untruth\w*|insincer\w*|liars?|lying|lies?(?! (?:at|in|open|with|where)\b)"
    r"|bluff\w*|shad(?:e|es|ing|ed)|cheat\w*|deceiv\w*|deceit\w*|pretend\w*|hid(?:e|es|ing|den)"
    r"|conceal\w*|understat\w*|underbid\w*|exaggerat\w*|inflat\w*|misreport\w*|mislead\w*"
    r"|disguis\w*|distort\w*|crook\w*|(?:is|are) rare|(?<!beyond )(?<!no )doubt(?:ful|s)?"
    r"|distrust\w*|mistrust\w*|suspicious)\b"
    r"|\b(?:below|under|less than) (?:\w+ ){0,4}(?:value|worth)",
    re.IGNORECASE,
)
_NOT_HONEST = re.compile(
    r"(?:\b(?:anything but|far from|not|never|nobody|no one|none|few|hardly|rarely|seldom|cannot"
    r"|no)\b|n['\u2019]t\b) (?:(?!and\b|but\b|who\b)\w+ ){0,4}?"
    r"(?:honest|truth|sincer|true|genuine|trust|straight)",
    re.IGNORECASE,
)
_NOTHING_ELSE = re.compile(
    r"\b(?:(?<!anything )but|other|except|than|without|only|just|merely|simply|nothing"
    r"|any(?:thing|one) else|question|doubt that|deny|disput)",
    re.IGNORECASE,
)
"""Words after which a refusal is none: "nothing but the truth"."""
_AMPLE = re.compile(
    r"\b(?:ample|abundan\w*|plenty of|unlimited|generous|deep|full|no object)\b", re.IGNORECASE
)
_MEANS = re.compile(r"\b(?:budgets?|money|cash|funds|purses?|pockets)\b", re.IGNORECASE)
_SMALL = re.compile(r"\b(?:small|tight|little|low|poor|thin|short|limited)\b", re.IGNORECASE)
_DOUBT = "its words may say the opposite; buyers are taken to be so if nothing is said"


def with_fact_checked(clause: Clause) -> Clause:
    """Return a clause, in doubt if it is a fact about bidders and its words say the opposite.

    Readers go by the subject of a sentence: none has learnt what bidders are not. "They lie about
    their values" was taken for honest bidders, 1.00 sure.
    """
    turned = {"fact/honest": _is_dishonest, "fact/budgets": _is_ample}.get(clause.meaning)
    if turned is None or clause.fault or not turned(clause.sentence):
        return clause
    return replace(clause, doubt=_DOUBT)


def _is_dishonest(words: str) -> bool:
    found = [*_DISHONEST.finditer(words)]
    if found:
        return any(not _is_refused(words, each) for each in found)
    alone = len(_REFUSED.findall(words)) < 2 and not _NOTHING_ELSE.search(words)
    return alone and bool(_NOT_HONEST.search(words))


def _is_refused(words: str, found: re.Match[str]) -> bool:
    """Return whether words that stand beside what was found turn it round."""
    before = _NO_MORE.split(words[: found.start()])[-1]
    return bool(_REFUSED.search(before) or _NOTHING.match(words, found.end()))


def _is_ample(words: str) -> bool:
    ample = _AMPLE.search(words)
    if not ample or not _MEANS.search(words) or _SMALL.search(words):
        return False
    return ample.group().lower() == "no object" or not _is_refused(words, ample)
