"""Formats and aims that a sentence names, but that were not read in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from daedalus.design.briefs.clauses import Clause

_NAMES = {
    "payment/first_price": r"first[- ]price|pay[- ]as[- ]bid"
    r"|pay(?:s|ing)? (?:its|their|his|her|what (?:it|they|he|she)) (?:own )?bids?\b",
    "payment/second_price": r"second[- ]price|\bvickrey\b(?!-clarke)",
    "payment/vcg": r"\bvcg\b|\bclarke\b",
    "aim/revenue": r"\brevenues?\b",
    "aim/welfare": r"\bwelfare\b",
    "aim/consumer_surplus": r"\bconsumer surplus\b",
    "aim/participation": r"\bparticipation\b",
    "also/fairness": r"\bfairness\b",
    "also/competition": r"\bcompetition\b",
}
"""Words that leave no doubt what is named, by a meaning that it may have."""


def named_and_not_read(sentence: str, clauses: Sequence[Clause]) -> Iterator[Clause]:
    """Yield a clause in doubt for each format and aim that no clause of the sentence is about.

    A reader gives a short sentence one meaning: "Second price, and winners pay their own bid."
    would lose its first half. The doubt says so, and nothing else changes.

    Args:
        sentence: A sentence.
        clauses: What was read in it. Where none of it can be used, nothing is added.
    """
    if all(each.parts.is_nothing or each.fault for each in clauses):
        return
    about = {_value(each.meaning) for each in clauses}
    for meaning, words in _NAMES.items():
        found = re.search(words, sentence, re.IGNORECASE)
        if found and _value(meaning) not in about:
            doubt = "it is named beside something else; give it a sentence of its own"
            yield Clause(meaning, None, found.group(), 0.0, doubt)


def _value(meaning: str) -> str:
    return meaning.partition("/")[2]
