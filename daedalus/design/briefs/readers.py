"""Readers of briefs: from sentences to clauses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from daedalus.design.briefs.amounts import amounts_in
from daedalus.design.briefs.meanings import MEANINGS, NOTHING, OTHER
from daedalus.design.briefs.understanding import Clause, Understanding, understand

_END = re.compile(r"(?<=[.!?;])[\"”’)]*\s+(?=\S)|\n+")


class Reader(Protocol):
    """Reads sentences."""

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return what each sentence means, one clause for each."""
        ...


def read(reader: Reader, text: str, least_confidence: float = 0.0) -> Understanding:
    """Return what a brief asks for, as a reader understands it.

    Args:
        reader: It reads the sentences.
        text: The brief.
        least_confidence: A sentence of which the reader is less sure counts as not understood.
    """
    sentences = sentences_of(text)
    clauses = reader.clauses(sentences) if sentences else []
    sure = [each if each.confidence >= least_confidence else _unsure(each) for each in clauses]
    return understand(sure)


def _unsure(clause: Clause) -> Clause:
    return Clause(OTHER, None, clause.sentence, clause.confidence)


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text, in order, without the spaces around them."""
    return [each for each in (part.strip() for part in _END.split(text)) if each]


def clause(meaning: str, sentence: str, confidence: float) -> Clause:
    """Return the clause of a sentence whose meaning is known, with the amount that it names.

    Of several amounts the first that the meaning can take counts.
    """
    if not MEANINGS[meaning].takes_amount:
        return Clause(meaning, None, sentence, confidence)
    found = [Clause(meaning, each, sentence, confidence) for each in amounts_in(sentence)]
    usable = [each for each in found if not each.fault]
    return (usable or found or [Clause(meaning, None, sentence, confidence)])[0]


class KeywordReader:
    """Finds the meaning of a sentence by the words that it holds: the simplest rival.

    The words were chosen by reading the first writer's sentences.
    """

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        """Return the first meaning of ``_WORDS`` that each sentence has the words of."""
        return [clause(_by_words(each), each, 1.0) for each in sentences]


def _by_words(sentence: str) -> str:
    text = sentence.lower()
    return next((meaning for meaning, word in _WORDS if re.search(word, text)), NOTHING)


_NEGATED = r"\b(no|not|never|nobody|none|without|don't|must not|may not|cannot|hidden|secret)\b"
_BANNED = r"\b(never|not|no|forbid|barred|ban|other than|exclude|any rule)"
_AIM = r"\b(above all|most|chief|main|first|priority|supreme|foremost|primary|nothing)"
_MEANT = r"\b(besides?|also|lesser|second|as well|too|subordinate|bonus)\b"

_WORDS: tuple[tuple[str, str], ...] = (
    ("no_fines/all", r"no fines?\b.*(any|all|kind)|without fines|never fine"),
    ("nothing_told/all", r"nothing (at all|whatever)|no information|tell (them|buyers) nothing"),
    ("conditional/ring", r"\bif\b.*(ring|together|collud|concert).*fine"),
    ("statistics_told/no", rf"(statistic|average|spread|summar).*{_NEGATED}|{_NEGATED}.*statistic"),
    ("statistics_told/yes", r"statistic|summary|average and spread"),
    (
        "withdrawal_fine/most",
        r"(withdraw|walk|back out|renege).*(at most|no more|exceed|more than)",
    ),
    (
        "withdrawal_fine/least",
        r"(withdraw|walks? away|back(s|ing)? out|renege).*(fine|penalty|pay)",
    ),
    ("fact/ring", r"(secret|one) (ring|cartel|bloc)|cartel|act as one|in league"),
    ("fact/walkers", r"elsewhere|walk away|leave us|other offers"),
    ("fact/budgets", r"little money|budget|short of (cash|money)|small sum|purse"),
    ("fact/honest", r"honest|true valu|truthful|bid what .* worth"),
    ("fact/false_names", r"(most|many|majority).*(false|invented|made-up|second) (name|account)"),
    (
        "shill_fine/none",
        rf"(false name|straw|alias|account).*{_NEGATED}.*fine|no fine.*(name|straw)",
    ),
    ("shill_fine/least", r"(false|invented|assumed) name|straw m[ae]n|second account|alias"),
    ("ring_policy/no_suspicion", r"suspicion|suspect|hunch|rumour"),
    ("ring_policy/declared", r"declar|register"),
    ("ring_policy/proof", r"pro(of|ved|ven)|evidence"),
    ("ring_policy/tolerated", r"free(ly)? to .*(together|jointly|team)|may .*(together|jointly)"),
    ("floor/fairness", r"(fair|even|equal).*\b(least|below|under|drop|reach)\b"),
    ("floor/participation", r"(share|of the (buyers|bidders)).*(take part|participat|turn up)"),
    ("also/fairness", rf"{_MEANT}.*(fair|even|equal)|(fair|even|equal).*{_MEANT}"),
    ("also/competition", rf"{_MEANT}.*(rival|compet|against)|(rival|compet).*{_MEANT}"),
    ("ban/first_price", rf"{_BANNED}.*own (bid|offer)|own (bid|offer).*{_BANNED}"),
    ("payment/first_price", r"(own|exactly (its|their)) (bid|offer)|what it (bid|offered)"),
    ("ban/vcg", rf"{_BANNED}.*(displac|harm|loss|externalit)|(displac|harm).*{_BANNED}"),
    ("payment/vcg", r"displac|harm|externality|loses? (by|through)"),
    ("ban/second_price", rf"{_BANNED}.*(losing|lost|unsuccessful|runner)"),
    (
        "payment/second_price",
        r"(highest|best|strongest) (losing|unsuccessful|bid that lost)|runner",
    ),
    ("bids_told/no", rf"{_NEGATED}.*(others'|other|rival).*(bid|offer)|sealed"),
    ("bids_told/yes", r"(see|show|shown|open|inspect).*(all|every|other|rival).*(bid|offer)"),
    (
        "reserve_told/no",
        r"(reserve|floor|minimum|lowest|threshold).*(secret|hidden|dark|disclos|know)",
    ),
    ("reserve_told/yes", r"(reserve|floor|minimum|lowest).*(before|public|told|announce|advance)"),
    ("reserve_exact/x", r"exactly|precisely|fixed at|to the letter"),
    (
        "reserve_most/x",
        r"(reserve|minimum|floor|lowest|start).*(exceed|above|higher|at most|beyond)",
    ),
    (
        "reserve_least/x",
        r"(reserve|minimum|lowest|sold|below|less than|under).*\d|less than|reserve",
    ),
    ("winner_told/no", rf"{_NEGATED}.*(won|winner|buyer)|anonym|remain a mystery"),
    ("winner_told/yes", r"who won|winner.*(name|known|public|announce)|name of the winner"),
    ("price_told/no", rf"(price|paid|sum|fetch).*{_NEGATED}|{_NEGATED}.*(price|paid)"),
    ("price_told/yes", r"(price|paid|fetched).*(public|publish|announce|known|open|told)"),
    ("aim/participation", rf"{_AIM}.*(take part|participa|as many (buyers|bidders)|turn up|come)"),
    ("aim/revenue", rf"{_AIM}.*(money|revenue|income|cash|proceeds|earn)|as much money"),
    ("aim/consumer_surplus", rf"{_AIM}.*(bargain|gain|cheap|keep)|bargain"),
    ("aim/welfare", rf"{_AIM}.*(use|value|worth)|most use|efficien"),
)
"""Words of each meaning, as regular expressions, the more special ones first."""
