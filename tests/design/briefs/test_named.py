"""What a sentence names beside what was read in it is not lost without a word."""

from __future__ import annotations

import pytest

from daedalus.design.briefs.clauses import Clause, understand
from daedalus.design.briefs.named import named_and_not_read
from daedalus.design.briefs.wordings import wordings


def read_as(meaning: str, sentence: str) -> list[Clause]:
    return [Clause(meaning, None, sentence)]


@pytest.mark.parametrize(
    ("sentence", "read", "named"),
    [
        ("Second price, and winners pay their own bid.", "payment/first_price", "Second price"),
        ("A Vickrey sale; each pays what it bid.", "payment/second_price", "pays what it bid"),
        ("VCG, no fines.", "no_fines/all", "VCG"),
        ("We want revenue and welfare.", "aim/revenue", "welfare"),
        ("Fairness first, then participation.", "also/fairness", "participation"),
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
