"""Clauses whose words say the opposite, or less: "The bidders are liars" is no honesty."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.direction import NO
from daedalus.design.briefs.meanings import MEANINGS

_REFUSED = re.compile(
    rf"\b(?:no|not) one\b|{NO}|\b(?:none|hardly|scarcely|seldom|rarely|refus\w*|hates?|despis\w*"
    r"|far from|free of|foreign|stop\w*|unlikely|anything but|instead of|rather than|lack\w*"
    r"|unknown|beneath|too \w+ to|above|neither|zero)\b",
    re.IGNORECASE,
)
"""Words that turn another one round."""
_FORBIDDEN = re.compile(
    r"\b(?:forb[ia]d\w*|prohibit\w*|bann?(?:ed|ing)?|abolish\w*|nor|wrong|out of the question)\b"
    r"|\u2260",
    re.IGNORECASE,
)
"""Words that turn rules round; facts about bidders may hold them, too."""
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
_FINES = r"(?:fin(?:e|es|ed|ing)|penal\w*|punish\w*|sanction\w*|charges?)\b"
_OFFENCES = [
    re.compile(words, re.IGNORECASE)
    for words in (
        r"\bwithdrawals?\b|\bretract\w*|\bleav(?:ers|ing early)"
        rf"|\bwithdr(?:aws?|ew|awn|awing)\b(?! (?:the |all |any |our |every )*{_FINES})"
        r"|\b(?:back(?:s|ed|ing)?|pull(?:s|ed|ing)?|drop(?:s|ped|ping)?) out"
        r"|\bwalk(?:s|ed|ing)? (?:away|out|off)",
        r"\bshill\w*|\balias\w*|\bpseudonym\w*|\b(?:false|fake|sham|double|second) "
        r"(?:names?|accounts?|identit\w+)",
        r"\brings?\b|\bcartels?\b|\bcollu\w*|\brigg\w*",
    )
]
"""Words for walking away, for false names and for rings: each may be fined alone."""
_ANY_OFFENCE = re.compile(
    r"\b(?:anything|whatever|whatsoever|altogether|misconduct|offences?|everything|in short"
    r"|of (?:any|all) (?:kind|sort)s?|at all|nothing)\b"
    rf"|\b(?:all|any|no|every|each and every|without) (?:money |other )?{_FINES}"
    r"(?! (?:for|on|to)\b)",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:doubl\w+|tripl\w+|lower\w*|rais(?:e|ed|es|ing)|increas\w*|reduc\w*|halv\w*)"
    rf" (?:the |all |any |our )*{_FINES}(?! to (?:0|zero|nil|nothing|none)\b)",
    re.IGNORECASE,
)
_HIDDEN = re.compile(
    r"\b(?:hid(?:e|es|ing|den)|conceal\w*|withh[eo]ld\w*|undisclosed|unpublished"
    r"|(?:keep|kept|stays?|remains?) (?:\w+ ){0,3}"
    r"(?:secret|hidden|private|confidential|anonymous))\b",
    re.IGNORECASE,
)
_UNWANTED = re.compile(
    r"\b(?:I|we) (?:(?:do|would)(?:n['\u2019]?t| not) (?:want|like|accept)"
    r"|(?:can(?:['\u2019]?t|not)|will not|won['\u2019]?t) (?:have|stand|bear|accept|allow))\b",
    re.IGNORECASE,
)
_SHOWN = re.compile(
    r"\b(?:show\w*|told|tell\w*|reveal\w*|publish\w*|disclos\w*|announc\w*|seen?|know)\b",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"\b(?:show\w*|tell\w*|told|publi\w*|reveal\w*|disclos\w*|announc\w*|open\w*|sees?|seen|shar\w*"
    r"|transparent|post\w*|know\w*|names? (?:the|who|our)|print\w*|visible|display\w*|read out"
    r"|list\w*|learn\w*|hear\w*|giv\w+|away with)\b",
    re.IGNORECASE,
)
_KEPT = re.compile(
    r"\b(?:secre\w*|confidential\w*|privat\w*|sealed|anonym\w*|dark|under wraps|between|off limits"
    r"|only their own)\b",
    re.IGNORECASE,
)
_TOLD_ALL = re.compile(
    r"\b(?:show|tell|publish|reveal|disclose|announce|share|open)(?:s|ing)?(?: [\w']+){0,3} "
    r"(?:everything|all)\b|\b(?:completely|fully) (?:open|transparent)\b"
    r"|\beverything (?:is|be|(?:must|shall|should|can|may) be) "
    r"(?:public|open|shown|told|published|revealed|disclosed|transparent)\b",
    re.IGNORECASE,
)
_FINED = re.compile(rf"\b(?:{_FINES}|pays?)\b", re.IGNORECASE)
_ANYWAY = re.compile(
    r"\bno matter\b|\bno questions\b|\bwithout (?:any )?(?:proof|evidence)\b"
    r"|\beven if\b.*|\b(?:is|are|be) enough\b",
    re.IGNORECASE,
)
"""Words that look like an excuse, and are none."""
_PROOF = re.compile(
    r"\b(?:proof|pro(?:ve|ves|ved|ven|ving)|evidence|only|until|unless|innocen\w*|benefit|enough"
    r"|insufficient\w*|too little|shown|certain\w*|establish\w*|confirm\w*|mere\w*|caught"
    r"|facts?|leave|spare|safe|exempt\w*|impermissible|illegal|unlawful|avoid\w*|drop\w*|scrap\w*"
    r"|skip\w*|waive\w*|convict\w*|guilty|ignor\w*)\b",
    re.IGNORECASE,
)
_DOUBT = "its words may say the opposite"
_FACT = f"{_DOUBT}; buyers are taken to be so if nothing is said"
_LESS = "it may ask for less than no fines at all; say which fine may be at most what"


def with_words_checked(clause: Clause) -> Clause:
    """Return a clause, in doubt if its words say the opposite of what it was read as, or less.

    Readers go by the subject of a sentence. "They lie about their values" was taken for honest
    bidders, 1.00 sure, and "Cartels get fined no matter what" for no fines at all, 0.98.
    """
    for meanings, turned, doubt in _TURNED:
        if clause.meaning in meanings and not clause.fault and turned(clause.sentence):
            return replace(clause, doubt=doubt)
    return clause


def _turns_a_rule(words: str) -> bool:
    return bool(_REFUSED.search(words) or _FORBIDDEN.search(words))


def _is_less_than_none(words: str) -> bool:
    """Return whether words change fines, or are about one offence and not about any."""
    about = sum(bool(each.search(words)) for each in _OFFENCES)
    return bool(_CHANGED.search(words)) or (about == 1 and not _ANY_OFFENCE.search(words))


def _is_hidden(words: str) -> bool:
    if _HIDDEN.search(words):
        return not (_turns_a_rule(words) or _TOLD.search(words))
    unwanted = _UNWANTED.search(words)
    rest = _NO_MORE.split(words[unwanted.end() :].replace(".", ","))[0] if unwanted else ""
    return bool(_SHOWN.search(rest)) and not (_KEPT.search(words) or _turns_a_rule(rest))


def _is_told(words: str) -> bool:
    kept = _turns_a_rule(words) or _HIDDEN.search(words) or _KEPT.search(words)
    return bool(_TOLD_ALL.search(words)) and not kept


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


def _is_fined_at_once(words: str) -> bool:
    rest = _ANYWAY.sub("", words)
    return bool(_FINED.search(rest)) and not (_turns_a_rule(rest) or _PROOF.search(rest))


_TURNED: tuple[tuple[Collection[str], Callable[[str], bool], str], ...] = (
    (("fact/honest",), _is_dishonest, _FACT),
    (("fact/budgets",), _is_ample, _FACT),
    (("no_fines/all",), _is_less_than_none, _LESS),
    (("ring_policy/no_suspicion",), _is_fined_at_once, _DOUBT),
    ([name for name in MEANINGS if name.endswith("_told/yes")], _is_hidden, _DOUBT),
    (("nothing_told/all",), _is_told, _DOUBT),
)
