"""Formats and aims that a sentence names, but that were not read in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from daedalus.design.briefs.clauses import Clause

_NAMES = {
    "payment/first_price": r"first[- ]price|pay[- ]as[- ]bid"
    r"|pay(?:s|ing)? (?:its|their|his|her|what (?:it|they|he|she)) (?:own )?bids?\b",
    "payment/second_price": r"second[- ]price|\bvickrey\b(?!\W+clarke)",
    "payment/vcg": r"\bvcg\b|(?:\bvickrey\W+)?\bclarke\b(?:\W+groves\b)?",
    "aim/revenue": r"\brevenues?\b|\bas much money as possible\b"
    r"|\b(?:earn|make|get|raise|bring(?: in| us)?) (?:us )?(?:the )?most money\b",
    "aim/welfare": r"(?<!animal )\bwelfare\b",
    "aim/consumer_surplus": r"\bconsumer surplus\b",
    "aim/participation": r"\bparticipation\b",
    "also/fairness": r"\bfairness\b|\b(?:keep (?:it|this|things)|stay) fair\b"
    r"|(?<!\bto )(?<!would )\bbe fair\b(?! with| to)",
    "also/competition": r"\bcompetition\b(?! law| auth)",
}
"""Words that name a format or an aim, by a meaning that they may have."""

BESIDE = "it may be asked for beside something else; give it a sentence of its own"
"""Why a part is in doubt that a reader found, or a name, beside what is used."""


def named_and_not_read(sentence: str, clauses: Sequence[Clause]) -> Iterator[Clause]:
    """Yield a clause in doubt for each format and aim that no clause of the sentence is about.

    A reader may give a sentence one meaning, and "Second price, and winners pay their own bid."
    would lose its first half. The doubt says so, and nothing else changes. ``read`` drops it again
    where the brief says the same elsewhere. Nothing is added where no clause can be used.
    """
    if not any(can_be_used(each) for each in clauses):
        return
    about = {_value(each.meaning) for each in clauses}
    for meaning, words in _NAMES.items():
        found = re.search(words, sentence, re.IGNORECASE)
        if found and _value(meaning) not in about:
            yield Clause(meaning, None, found.group(), 0.0, BESIDE)


def can_be_used(clause: Clause) -> bool:
    """Return whether a clause asks for something, without a fault."""
    return not clause.parts.is_nothing and not clause.fault


def _value(meaning: str) -> str:
    return meaning.partition("/")[2]
