"""What a sentence names beside what was read in it is not lost without a word."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from daedalus.design.briefs.clauses import Clause, understand
from daedalus.design.briefs.meanings import MEANINGS
from daedalus.design.briefs.named import BESIDE, named_and_not_read
from daedalus.design.briefs.readers import read
from daedalus.design.briefs.wordings import wordings


def read_as(meaning: str, sentence: str) -> list[Clause]:
    amount = 0.5 if MEANINGS[meaning].takes_amount else None
    return [Clause(meaning, amount, sentence)]


@pytest.mark.parametrize(
    ("sentence", "read", "named"),
    [
        ("Second price, and winners pay their own bid.", "payment/first_price", "Second price"),
        ("A Vickrey sale; each pays what it bid.", "payment/second_price", "pays what it bid"),
        ("VCG, no fines.", "no_fines/all", "VCG"),
        ("We want revenue and welfare.", "aim/revenue", "welfare"),
        ("Fairness first, then participation.", "also/fairness", "participation"),
        ("Maximise revenue, but be fair.", "aim/revenue", "be fair"),
        ("Keep the price secret and get the most money.", "price_told/no", "get the most money"),
    ],
)
def test_what_is_named_and_not_read_is_in_doubt(sentence: str, read: str, named: str) -> None:
    clauses = read_as(read, sentence)
    (left_out,) = named_and_not_read(sentence, clauses)
    assert left_out.sentence == named
    understood = understand([*clauses, left_out])
    assert understood.clauses == tuple(clauses)  # what is used stays
    assert [each.sentence for each, _ in understood.unread] == [named]


@pytest.mark.parametrize(
    ("sentence", "read"),
    [
        ("Never a second-price auction.", "ban/second_price"),
        ("The Vickrey-Clarke-Groves rule.", "payment/vcg"),
        ("To be fair, publish the price.", "price_told/yes"),
        ("Whoever offers the most money wins; hide the price.", "price_told/no"),
        ("Vickrey Clarke Groves it is.", "payment/vcg"),
        ("No animal welfare papers, no sale to them.", "winner_told/no"),
        ("Fairness of 0.5 at least.", "floor/fairness"),
        ("The second-price sale of last year is over.", "nothing/all"),
    ],
)
def test_what_was_read_is_not_named_again(sentence: str, read: str) -> None:
    assert not [*named_and_not_read(sentence, read_as(read, sentence))]


def test_sentences_with_one_meaning_name_hardly_anything_else() -> None:
    needless = [
        text
        for writer in ("first", "second", "hurried")
        for meaning, texts in wordings(writer).items()
        for text in texts
        if [*named_and_not_read(text, read_as(meaning, text))]
    ]
    assert len(needless) <= 1, needless


class Fixed:
    """Reads the words of its sentences as it was told."""

    def __init__(self, *clauses: Clause) -> None:
        self.found = clauses

    def clauses(self, sentences: Sequence[str]) -> list[Clause]:
        return [*self.found]


def test_a_remark_on_what_is_used_or_already_in_doubt_is_dropped() -> None:
    remark = Clause("aim/revenue", None, "revenue", 0.0, BESIDE)
    used, unsure = (
        Clause("aim/revenue", None, "Revenue!"),
        Clause("aim/welfare", None, "revenue?", 0.3),
    )
    alone = read(Fixed(remark), "x", 0.65)
    assert [each for each, _ in alone.unread] == [remark]
    assert not read(Fixed(used, remark), "x", 0.65).unread
    assert len(read(Fixed(unsure, remark), "Some revenue?", 0.65).unread) == 1


def test_a_question_about_a_name_hides_no_demand() -> None:
    fines = Clause("no_fines/all", None, "VCG, no fines.")
    remark = Clause("payment/vcg", None, "VCG", 0.0, BESIDE)
    understood = read(Fixed(fines, remark), "VCG, no fines. Is VCG allowed?", 0.65)
    assert [each.sentence for each, _ in understood.unread] == ["VCG", "Is VCG allowed?"]
