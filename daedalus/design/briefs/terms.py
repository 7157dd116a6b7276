"""Terms of the trade: short phrases that mean one thing where they stand alone."""

from __future__ import annotations

import re
from dataclasses import replace

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.meanings import OTHER, kind

_POLITE = r"(?:(?:and|but|please|so|also),? )*"
_VERB = (
    r"(?:(?:we|i) (?:want|would like|need|prefer|insist on)"
    r"|(?:there|it) (?:must|shall|should) be|use|set|run|hold|make it|take|choose|go for"
    r"|sell(?: (?:it|them|all|everything))?)"
)
_ORDER = rf"(?:(?:{_VERB}|with|by) )?(?:an? |the )?"
_STATED = r"(?:there(?:['\u2019]s| is| are| was| were)|(?:we|i|it|they|our \w+) (?:have|has|had)) "
_RESERVE = r"(?:(?:reserve|minimum|starting|opening) (?:price|bid)s?|reserves?)"
_NO_RESERVE = (
    rf"(?:no|zero|nil|without(?: an?| any)?) {_RESERVE}(?: at all| whatsoever)?"
    rf"|{_RESERVE}(?: (?:(?:must|shall|should|will) be|is))?:? (?:nil|none|nothing)"
)
_AUCTION = r"(?:,? sealed[- ]bid)?(?: (?:auction|format|mechanism|rule|sale)s?)?"
_PAYS = r"(?:the )?(?:(?:winner|winning bidder|highest bidder)s? )?(?:(?:must|shall|should) )?pays?"
_OWN_BID = r"(?:your|their|his|her|what (?:you|they|he|she)) (?:own )?bids?"
_FIRST_PRICE = rf"(?:first[- ]price|pay[- ]as[- ]bid){_AUCTION}"
_SECOND_PRICE = rf"(?:second[- ]price|vickrey){_AUCTION}"
_VCG = rf"(?:vcg|vickrey\W+clarke\W+groves){_AUCTION}"
_BAN = r"(?:no(?: more)?|not|never|anything but|avoid|exclude|ban) (?:an? |the )?"
_NOTHING_TOLD = (
    r"(?:hide|conceal) everything(?: from (?:them|everybody|everyone|(?:the )?bidders))?"
    r"|(?:tell|show|reveal|disclose|publish)(?: (?:them|the bidders|bidders))? nothing(?: at all)?"
)
_TERMS: dict[tuple[str, float | None], str] = {
    ("reserve_exact/x", 0.0): _NO_RESERVE,
    ("payment/first_price", None): rf"{_FIRST_PRICE}|{_PAYS} {_OWN_BID}",
    ("payment/second_price", None): (
        rf"{_SECOND_PRICE}|{_PAYS} the second[- ]highest (?:bid|price|offer)"
    ),
    ("payment/vcg", None): _VCG,
    ("ban/first_price", None): f"{_BAN}{_FIRST_PRICE}",
    ("ban/second_price", None): f"{_BAN}{_SECOND_PRICE}",
    ("ban/vcg", None): f"{_BAN}{_VCG}",
    ("nothing_told/all", None): _NOTHING_TOLD,
}
_AROUND = r"[\s.,;:!()\u2013-]*"


def _whole(words: str) -> re.Pattern[str]:
    return re.compile(rf"{_AROUND}(?:{words}){_AROUND}", re.IGNORECASE)


_ORDERS = {
    term: _whole(rf"{_POLITE}{_ORDER}(?:{words})(?:,? please)?") for term, words in _TERMS.items()
}
_NO_RESERVE_STATED = _whole(f"{_STATED}(?:{_NO_RESERVE})")
_TOLD = re.compile(
    r"\bno (?:winners?|prices?|bids?|names?|stat\w*|numbers?|averages?)\b(?!-)"
    r"|\b(?:last|ago|was|were|had|used to|once|formerly|past|yesterday)\b",
    re.IGNORECASE,
)
_VICKREY = re.compile(r"\bvickrey", re.IGNORECASE)
_GROVES = re.compile(r"vcg|clarke|groves|generali[sz]ed|multi-?unit|harm|externalit", re.IGNORECASE)
_ORDERED = re.compile(rf"{_AROUND}{_POLITE}{_VERB} ", re.IGNORECASE)
_DOUBT = "it may tell what is; if there shall be no reserve, say: no reserve"


def with_vickrey_alone(clause: Clause) -> Clause:
    """Return a clause on VCG as one on the second price if it names Vickrey and not VCG."""
    about, _, named = clause.meaning.partition("/")
    if named != "vcg" or not _VICKREY.search(clause.sentence) or _GROVES.search(clause.sentence):
        return clause
    return replace(clause, meaning=f"{about}/second_price")


def term_of(sentence: str) -> Clause | None:
    """Return what a sentence asks for if it is a term of the trade and nothing else.

    "We have no reserve." may ask for it, or tell what is: it is in doubt.
    """
    for (meaning, amount), words in _ORDERS.items():
        if words.fullmatch(sentence):
            return Clause(meaning, amount, sentence, 1.0)
    stated = _NO_RESERVE_STATED.fullmatch(sentence)
    return Clause("reserve_exact/x", 0.0, sentence, 1.0, _DOUBT) if stated else None


def term_in(clause: Clause, sentence: str) -> Clause | None:
    """Return what a part of a sentence asks for if it is a term, and was not read as another thing.

    In a list as "no reserve, no winner, no bids" the reserve is one of the things that nobody is
    told, and what was once is no demand.
    """
    term = None if _TOLD.search(sentence) else term_of(clause.sentence)
    if term is None:
        return None
    if term.parts.bounded:
        return term if clause.meaning.startswith("reserve") else None
    ordered = clause.meaning == OTHER and _ORDERED.match(clause.sentence)
    about = kind(term.meaning)
    return term if kind(clause.meaning) == about or (ordered and about == "payment") else None
