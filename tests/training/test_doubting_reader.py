"""What only sounds like a demand is put in doubt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.meanings import NOTHING, OTHER
from daedalus.training.doubting_reader import ELSE, NO_DEMAND, DoubtingReader

MONEY, WON = "aim/revenue", "winner_told/no"


@dataclass
class Fixed:
    """Reads every sentence as one clause, and keeps what it was asked."""

    found: Clause
    asked: list[str]

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        self.asked += sentences
        return [self.found] * len(sentences)


def found(reader: Clause, doubter: Clause) -> tuple[Clause, list[str]]:
    doubts = Fixed(doubter, [])
    (clause,) = DoubtingReader(Fixed(reader, []), doubts).clauses(["A sentence."])
    return clause, doubts.asked


@pytest.mark.parametrize(
    ("meaning", "sure", "doubt"),
    [
        (OTHER, 0.6, NO_DEMAND),
        (NOTHING, 0.97, NO_DEMAND),
        (OTHER, 0.59, ""),
        (MONEY, 0.55, ELSE),
        (MONEY, 0.54, ""),
        (WON, 0.99, ""),
    ],
)
def test_a_doubter_counts_where_it_is_sure_of_something_else(
    meaning: str, sure: float, doubt: str
) -> None:
    clause, asked = found(Clause(WON, None, "its part", 0.9), Clause(meaning, None, "", sure))
    assert (clause.meaning, clause.confidence, clause.doubt) == (WON, 0.9, doubt)
    assert asked == ["its part", "its part."]  # the words of the clause, not the whole sentence


@pytest.mark.parametrize(
    ("sentence", "forms"),
    [
        ("Ban false names.", ["Ban false names.", "Ban false names"]),
        ("Ban false names", ["Ban false names", "Ban false names."]),
        ("We do not want any false names at all.", ["We do not want any false names at all."]),
    ],
)
def test_a_short_clause_is_doubted_with_and_without_its_period(
    sentence: str, forms: list[str]
) -> None:
    doubts = Fixed(Clause(MONEY, None, "", 0.1), [])
    DoubtingReader(Fixed(Clause(WON, None, sentence, 0.9), []), doubts).clauses(["x"])
    assert doubts.asked == forms


def test_one_doubt_of_two_forms_is_enough() -> None:
    class Unsteady:
        def clauses(self, sentences: Sequence[str]) -> list[Clause]:
            return [Clause(OTHER, None, each, 0.9 if each == "x" else 0.1) for each in sentences]

    (clause,) = DoubtingReader(Fixed(Clause(WON, None, "x.", 0.9), []), Unsteady()).clauses(["x."])
    assert clause.doubt == NO_DEMAND


def test_another_bound_of_the_same_field_is_no_doubt() -> None:
    clause = Clause("reserve_exact/x", 0.3, "x", 0.9)
    assert not found(clause, Clause("reserve_least/x", 0.3, "", 0.99))[0].doubt
    assert found(clause, Clause("withdrawal_fine/least", 0.3, "", 0.99))[0].doubt == ELSE


@pytest.mark.parametrize(
    "clause",
    [
        Clause(OTHER, None, "x", 0.9),
        Clause(WON, None, "x", 0.9, "two amounts"),
        Clause("floor/participation", 0.5, "x", 0.9),
    ],
    ids=["no demand", "in doubt", "a floor"],
)
def test_what_is_not_used_and_floors_stay_as_they_are(clause: Clause) -> None:
    assert found(clause, Clause(OTHER, None, "", 0.99)) == (clause, [])


def test_vickrey_is_the_same_to_both() -> None:
    sentence = "We would not use a Vickrey auction here, thank you."
    refused = Clause("ban/second_price", None, sentence, 0.9)
    assert not found(refused, Clause("ban/vcg", None, sentence, 0.9))[0].doubt


def test_a_fact_about_bidders_is_doubted() -> None:
    fact = Clause("fact/ring", None, "There are eight bidders.", 0.9)
    assert found(fact, Clause(OTHER, None, "", 0.99))[0].doubt == NO_DEMAND


def test_a_term_of_the_trade_needs_no_reader_and_is_not_doubted() -> None:
    reader = Fixed(Clause("reserve_told/no", None, "x", 0.9), [])
    doubts = Fixed(Clause(OTHER, None, "", 0.99), [])
    found = DoubtingReader(reader, doubts).clauses(["x", "No reserve.", "VCG"])
    assert [each.meaning for each in found] == ["reserve_told/no", "reserve_exact/x", "payment/vcg"]
    assert [each.doubt for each in found] == [NO_DEMAND, "", ""]
    assert reader.asked == ["x"] and doubts.asked == ["x", "x."]


def test_each_clause_of_several_has_its_own_doubt() -> None:
    class Two:
        def clauses(self, sentences: Sequence[str]) -> list[Clause]:
            return [Clause(WON, None, each, 0.9) for each in sentences]

    class Unsure:
        def clauses(self, sentences: Sequence[str]) -> list[Clause]:
            return [Clause(OTHER, None, each, 0.9 * ("b" in each)) for each in sentences]

    long = "one two three four five six seven eight"  # which has one form
    found = DoubtingReader(Two(), Unsure()).clauses([long, "b", "c"])
    assert [each.doubt for each in found] == ["", NO_DEMAND, ""]
