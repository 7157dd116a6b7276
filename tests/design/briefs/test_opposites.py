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


OPPOSITES = {
    "no_fines/all": [
        "Double all penalties",
        "Don't fine withdrawals.",
        "Never fine withdrawals.",
        "No withdrawal fines.",
        "No fines for withdrawals.",
        "Nobody is fined for walking away.",
        "Fine every ring.",
        "Cartels get fined no matter what.",
    ],
    "ring_policy/no_suspicion": [
        "Suspected cartels should be fined too.",
        "Fine suspected rings without proof.",
        "Fine suspected rings no matter what.",
        "Suspicion is enough for a fine.",
    ],
    "winner_told/yes": [
        "I want to hide the reserve and the winner.",
        "The winner stays anonymous.",
    ],
    "price_told/yes": ["Prices stay strictly confidential."],
    "bids_told/yes": ["What I can't have is the bids of the others being shown around afterwards."],
    "nothing_told/all": [
        "Be completely open, tell bidders everything.",
        "Everything must be public.",
    ],
}
MEANT = {
    "no_fines/all": [
        "Nobody is fined, neither rings nor who withdraws by a false name.",
        "Waive the fines.",
        "Cancel the fines.",
        "Withdraw the penalties.",
        "Leave out the fines.",
        "Reduce all fines to 0.",
        "Drop the fines to increase turnout.",
        "No fines at all, not even for rings.",
    ],
    "ring_policy/no_suspicion": [
        "A ring is fined on evidence, a suspected one is spared.",
        "No ring is fined without proof.",
        "Avoid fining suspected rings.",
        "Suspicion is not enough for a fine.",
        "Rings are fined once convicted.",
    ],
    "winner_told/yes": ["Do not hide who won.", "Name the winner; the losers remain anonymous."],
    "reserve_told/yes": ["Post the reserve and keep the bids private."],
    "price_told/yes": [
        "Keep nothing secret: tell them the price.",
        "We don't want hush-hush prices; say openly what every lot sold for.",
        "I won't have whispering about what it went for, so let the buyers hear it.",
        "Buyers who don't want to wait can see the price online.",
        "Those who do not have a stall may see the price.",
        "I don't want a long sale. Publish the price.",
        "I do not want to open late; publish the price.",
    ],
    "nothing_told/all": [
        "Keep everything secret.",
        "Tell them nothing at all.",
        "Leave them completely in the dark; publishing would hurt us.",
        "All results stay between me and the winner.",
    ],
}


def pairs(given: dict[str, list[str]]) -> list[tuple[str, str]]:
    return [(meaning, sentence) for meaning, some in given.items() for sentence in some]


@pytest.mark.parametrize(("meaning", "sentence"), pairs(OPPOSITES))
def test_other_words_of_the_opposite_are_in_doubt(meaning: str, sentence: str) -> None:
    assert doubt(meaning, sentence)


@pytest.mark.parametrize(("meaning", "sentence"), pairs(MEANT))
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
