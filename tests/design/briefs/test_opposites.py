"""A fact whose words say the opposite is in doubt, and one that refuses the opposite is not."""

from __future__ import annotations

import pytest

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.meanings import MEANINGS
from daedalus.design.briefs.opposites import with_fact_checked
from daedalus.design.briefs.wordings import wordings


def doubt(meaning: str, sentence: str) -> str:
    return with_fact_checked(Clause(meaning, None, sentence, 1.0)).doubt


@pytest.mark.parametrize(
    "sentence",
    [
        "Buyers lie about their values.",
        "Buyers are not honest.",
        "Nobody bids their true value.",
        "The bidders are anything but truthful.",
        "Truthful bidding is rare.",
        "I don't trust them.",
        "Dealers bid below what a lot is worth to them.",
        "No one tells the truth.",
        "They lie, and nobody stops them.",
        "They shade their bids, with no ring among them.",
    ],
)
def test_who_lies_is_not_honest(sentence: str) -> None:
    assert "the opposite" in doubt("fact/honest", sentence)
    assert not doubt("fact/ring", sentence)  # no other fact is about it


@pytest.mark.parametrize(
    "sentence",
    [
        "They bid their true values.",
        "They never lie about their values.",
        "Nobody here shades a bid.",
        "They bid nothing but the truth.",
        "No man who bids here is anything but straight.",
        "They live far from town and bid their true values.",
        "They are not just honest, they are generous.",
        "Their strength lies in honesty.",
        "Bidders shade nothing.",
    ],
)
def test_who_refuses_to_lie_is_honest(sentence: str) -> None:
    assert not doubt("fact/honest", sentence)


def test_ample_budgets_are_not_small() -> None:
    assert doubt("fact/budgets", "Budgets are ample.")
    assert doubt("fact/budgets", "Money is no object.")
    assert not doubt("fact/budgets", "Their budgets are far from ample.")
    assert not doubt("fact/budgets", "Buyers have small budgets and plenty of time.")


def test_hardly_a_sentence_of_the_writers_is_doubted() -> None:
    facts = [
        (meaning, text)
        for writer in ("first", "second", "hurried", "negated")
        for meaning, texts in wordings(writer).items()
        if MEANINGS[meaning].population
        for text in texts
    ]
    assert len(facts) > 200
    assert [text for meaning, text in facts if doubt(meaning, text)] == []
