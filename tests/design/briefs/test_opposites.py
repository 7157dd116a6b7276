"""What is said in words of the opposite is in doubt, and what refuses the opposite is not."""

from __future__ import annotations

import pytest

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.opposites import with_words_checked
from daedalus.design.briefs.parts import parts_alone
from daedalus.design.briefs.wordings import wordings


def doubt(meaning: str, sentence: str) -> str:
    return with_words_checked(Clause(meaning, None, sentence, 1.0)).doubt


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
        "They are not honest, nor do they bid their true values.",
        "Nobody here is honest, and I was wrong to trust them.",
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


@pytest.mark.parametrize(
    ("meaning", "sentence"),
    [
        ("no_fines/all", "Double all penalties"),
        ("no_fines/all", "Don't fine withdrawals."),
        ("no_fines/all", "No fines for withdrawals."),
        ("no_fines/all", "Cartels get fined no matter what."),
        ("ring_policy/no_suspicion", "Suspected cartels should be fined too."),
        ("winner_told/yes", "I want to hide the reserve and the winner."),
        ("price_told/yes", "Prices stay strictly confidential."),
        ("nothing_told/all", "Be completely open, tell bidders everything."),
    ],
)
def test_other_words_of_the_opposite_are_in_doubt(meaning: str, sentence: str) -> None:
    assert doubt(meaning, sentence)


@pytest.mark.parametrize(
    ("meaning", "sentence"),
    [
        ("no_fines/all", "Nobody is fined, neither rings nor who withdraws."),
        ("no_fines/all", "Waive the fines."),
        ("ring_policy/no_suspicion", "A ring is fined on evidence, a suspected one is spared."),
        ("winner_told/yes", "Do not hide who won."),
        ("price_told/yes", "Keep nothing secret: tell them the price."),
        ("nothing_told/all", "Keep everything secret."),
        ("nothing_told/all", "Tell them nothing at all."),
    ],
)
def test_what_refuses_the_opposite_is_not(meaning: str, sentence: str) -> None:
    assert not doubt(meaning, sentence)


def test_hardly_a_sentence_of_the_writers_is_doubted() -> None:
    given = [
        (meaning, text)
        for writer in ("first", "second", "hurried", "negated")
        for meaning, texts in wordings(writer).items()
        for text in texts
    ]
    given += [(name, text) for text, name in parts_alone()]
    doubted = [(meaning, text) for meaning, text in given if doubt(meaning, text)]
    assert len(given) > 9000 and doubted == []
