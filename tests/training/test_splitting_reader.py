"""A sentence is taken as a whole or in parts, by which of two readers is surer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.named import BESIDE
from daedalus.training.splitting_reader import SplittingReader

TEXT = "We need money, and winners pay what they offered."
MONEY, OWN_BID, WON = "aim/revenue", "payment/first_price", "winner_told/no"


@dataclass
class Fixed:
    """Reads every sentence alike."""

    found: list[Clause]

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        return self.found * len(sentences)


def part(meaning: str, sure: float, doubt: str = "") -> Clause:
    return Clause(meaning, None, TEXT, sure, doubt)


@pytest.mark.parametrize(
    ("whole", "parts", "taken"),
    [
        (part(OWN_BID, 0.77), [part(MONEY, 0.9), part(OWN_BID, 0.95)], "parts"),
        (part(OWN_BID, 0.8), [part(MONEY, 0.7), part(OWN_BID, 0.95)], "parts"),
        (part(OWN_BID, 0.9), [part(MONEY, 0.3), part(OWN_BID, 0.95)], "whole"),
        (
            part(OWN_BID, 0.9, "it names several amounts"),
            [part(MONEY, 0.3), part(WON, 0.9)],
            "parts",
        ),
        (
            part(OWN_BID, 0.9, "two amounts"),
            [part("nothing/all", 0.9), part(OWN_BID, 0.8)],
            "parts",
        ),
        (part("nothing/all", 0.9), [part("nothing/all", 0.8)], "whole"),
        (part(WON, 0.2), [part("nothing/all", 0.8)], "parts"),
    ],
)
def test_the_surer_reading_is_taken(whole: Clause, parts: list[Clause], taken: str) -> None:
    found = SplittingReader(Fixed([whole]), Fixed(parts)).clauses([TEXT, TEXT])
    assert found == 2 * (parts if taken == "parts" else [whole])


@pytest.mark.parametrize(
    ("whole", "parts", "sure"),
    [
        (0.9, [part("nothing/all", 0.99), part(OWN_BID, 0.8)], 0.98),
        (0.5, [part(OWN_BID, 0.2), part("nothing/all", 0.4), part(OWN_BID, 0.8)], 0.9),
        (0.95, [part(OWN_BID, 0.95)], 0.99),
        (0.995, [part(OWN_BID, 0.95)], 0.995),
        (0.49, [part(OWN_BID, 0.45)], 0.49),  # neither is sure
    ],
)
def test_readers_who_agree_make_each_other_surer(
    whole: float, parts: list[Clause], sure: float
) -> None:
    (found,) = SplittingReader(Fixed([part(OWN_BID, whole)]), Fixed(parts)).clauses([TEXT])
    assert (found.meaning, found.sentence, found.doubt) == (OWN_BID, TEXT, "")
    assert found.confidence == pytest.approx(sure)


@pytest.mark.parametrize("amount", [None, 1.0])
def test_where_amounts_differ_that_of_the_words_counts(amount: float | None) -> None:
    whole = Clause("shill_fine/least", 0.3, TEXT, 0.9)
    words = [Clause("shill_fine/least", amount, "the full value", 0.6), part("nothing/all", 0.9)]
    assert SplittingReader(Fixed([whole]), Fixed(words)).clauses([TEXT]) == words


def test_what_both_readers_miss_is_named() -> None:
    sentence = "Second price, and winners pay their own bid."
    whole = Clause(OWN_BID, None, sentence, 0.9)
    found = SplittingReader(Fixed([whole]), Fixed([whole])).clauses([sentence])
    assert found[0].meaning == OWN_BID and [each.sentence for each in found[1:]] == ["Second price"]
    assert found[1].doubt


@pytest.mark.parametrize(
    ("beside", "doubt"),
    [
        (part(MONEY, 0.5), BESIDE),
        (part(MONEY, 0.49), None),
        (part(OWN_BID, 0.9), None),
        (part("nothing/all", 0.9), None),
        (part("reserve_least/x", 0.9), "it names no amount"),
    ],
)
def test_a_part_beside_what_is_taken_is_named(beside: Clause, doubt: str | None) -> None:
    whole, words = part(OWN_BID, 0.95), [beside, part(OWN_BID, 0.3)]
    found = SplittingReader(Fixed([whole]), Fixed(words)).clauses([TEXT])
    assert (found[0].meaning, found[0].doubt) == (OWN_BID, "")
    assert [each.doubt for each in found[1:]] == ([] if doubt is None else [doubt])


def test_nothing_is_named_beside_what_cannot_be_used() -> None:
    whole = part(OWN_BID, 0.95, "it is too long")
    words = [part("nothing/all", 0.9), part("nothing/all", 0.8)]
    assert SplittingReader(Fixed([whole]), Fixed(words)).clauses([TEXT]) == words


def test_a_fact_whose_words_say_the_opposite_is_in_doubt() -> None:
    lie = Clause("fact/honest", None, "They lie about their values.", 0.99)
    (found,) = SplittingReader(Fixed([lie]), Fixed([lie])).clauses([lie.sentence])
    assert found.meaning == lie.meaning and "the opposite" in found.doubt


def test_no_reserve_in_a_part_is_a_reserve_of_0() -> None:
    sentence = "First price, no reserve."
    secret = Clause("reserve_told/no", None, ", no reserve.", 0.4)
    parts = [Clause(OWN_BID, None, "First price", 0.9), secret]
    whole = Clause("reserve_told/yes", None, sentence, 0.85)
    found = SplittingReader(Fixed([whole]), Fixed(parts)).clauses([sentence])
    assert [(each.meaning, each.amount, each.doubt) for each in found] == [
        (OWN_BID, None, ""),
        ("reserve_exact/x", 0.0, ""),
    ]


def test_vickrey_alone_is_no_vcg() -> None:
    refused = Clause("ban/vcg", None, "I would not use a Vickrey auction.", 0.9)
    (found,) = SplittingReader(Fixed([refused]), Fixed([refused])).clauses([refused.sentence])
    assert found.meaning == "ban/second_price"
