"""Facts about bidders whose words say the opposite: "The bidders are liars" is no honesty."""

from __future__ import annotations

import re
from dataclasses import replace

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.direction import NO

_REFUSED = re.compile(
    rf"{NO}|\b(?:none|hardly|scarcely|seldom|rarely|refus\w*|far from|free of|foreign|stop\w*"
    r"|unlikely|anything but|instead of|rather than|lack\w*|unknown|beneath|too \w+ to|above"
    r"|neither|one)\b",
    re.IGNORECASE,
)
"""Words that turn another one round."""
_ANY_BUT = r"\b(?:anything but|far from)|(?:\b(?:not|never|nobody|no one|none|few|hardly|rarely"
_ANY_BUT += r"|seldom|cannot|no)\b|n['\u2019]t\b)"
_DISHONEST = re.compile(
    r"\b(?:dishonest\w*|untruth\w*|insincer\w*|liars?|lies?|lying|bluff\w*|shad(?:e|es|ing|ed)"
    r"|cheat\w*|deceiv\w*|deceit\w*|pretend\w*|hid(?:e|es|ing|den)|conceal\w*|understat\w*"
    r"|underbid\w*|exaggerat\w*|inflat\w*|misreport\w*|mislead\w*|disguis\w*|distort\w*|crook\w*"
    r"|rare|doubt\w*|distrust\w*|mistrust\w*|suspicious)\b"
    r"|\b(?:below|under|less than) (?:\w+ ){0,4}(?:value|worth)",
    re.IGNORECASE,
)
_NOT_HONEST = re.compile(
    rf"{_ANY_BUT} (?:\w+ ){{0,4}}?(?:honest|truth|sincer|true|genuine|trust|straight)",
    re.IGNORECASE,
)
_NOTHING_ELSE = re.compile(
    r"\b(?:(?<!anything )but|other|except|than|without|only|nothing|any(?:thing|one) else|question"
    r"|doubt that|deny|disput)",
    re.IGNORECASE,
)
"""Words after which a refusal is none: "nothing but the truth"."""
_AMPLE = re.compile(
    r"\b(?:ample|abundan\w*|plenty|plentiful|rich|wealthy|affluent|unlimited|generous|deep pockets"
    r"|well[- ]off|no object)\b",
    re.IGNORECASE,
)
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
    if _DISHONEST.search(words):
        return not _REFUSED.search(words)
    alone = len(_REFUSED.findall(words)) < 2 and not _NOTHING_ELSE.search(words)
    return alone and bool(_NOT_HONEST.search(words))


def _is_ample(words: str) -> bool:
    return bool(_AMPLE.search(words)) and not _REFUSED.search(words)
