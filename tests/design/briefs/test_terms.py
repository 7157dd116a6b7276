"""Terms of the trade mean one thing where they stand alone, and nothing inside other words."""

from __future__ import annotations

import pytest

from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.terms import term_in, term_of, with_vickrey_alone

NONE = "reserve_exact/x"


@pytest.mark.parametrize(
    ("sentence", "meaning"),
    [
        ("No reserve.", NONE),
        ("NO RESERVE PRICE!", NONE),
        ("Please sell everything without a reserve.", NONE),
        ("There must be no reserve at all.", NONE),
        ("We want no minimum price.", NONE),
        ("The reserve must be nil.", NONE),
        ("Reserve: none", NONE),
        ("No reserve, please.", NONE),
        ("Pay your bid.", "payment/first_price"),
        ("Winners pay what they bid", "payment/first_price"),
        ("Use a first-price sealed-bid auction.", "payment/first_price"),
        ("Vickrey auction.", "payment/second_price"),
        ("The highest bidder pays the second highest bid.", "payment/second_price"),
        ("And make it a Vickrey-Clarke-Groves auction", "payment/vcg"),
        ("No Vickrey.", "ban/second_price"),
        ("Hide everything from them.", "nothing_told/all"),
        ("Please tell the bidders nothing at all", "nothing_told/all"),
        ("Please, anything but VCG!", "ban/vcg"),
        ("Avoid the pay-as-bid format", "ban/first_price"),
    ],
)
def test_a_term_alone_needs_no_reader(sentence: str, meaning: str) -> None:
    amount = 0.0 if meaning == NONE else None
    assert term_of(sentence) == Clause(meaning, amount, sentence, 1.0)


@pytest.mark.parametrize(
    "sentence",
    [
        "No reserve beyond a fifth is allowed.",
        "No reserve price is announced.",
        "No secret reserve.",
        "No nature reserve.",
        "Ban first price and second price.",
        "Nothing but VCG.",
        "Hide everything but the price.",
        "Tell the losers nothing.",
        "No VCG and no reserve.",
        "Nobody pays their bid.",
        "Pay your bidders.",
        "Vickrey had a point.",
        "VCG?",
        "First price, no reserve.",
    ],
)
def test_other_words_are_left_to_readers(sentence: str) -> None:
    assert term_of(sentence) is None


@pytest.mark.parametrize("sentence", ["We have no reserve.", "There\u2019s no minimum price."])
def test_what_may_tell_what_is_is_in_doubt(sentence: str) -> None:
    found = term_of(sentence)
    assert found is not None and "say: no reserve" in found.doubt and found.fault


def test_a_part_that_was_read_as_words_on_the_reserve_has_none() -> None:
    part = ", no reserve"
    found = Clause("reserve_told/no", None, part, 0.9)
    assert term_in(found, f"First price{part}.") == term_of(part)
    assert term_in(found, f"No winner{part}, no bids to anybody.") is None
    assert term_in(found, f"Last year{part}, we lost money.") is None
    assert term_in(found, f"No price-fixing{part}.") == term_of(part)
    secret = Clause("reserve_told/no", None, "a secret reserve", 0.9)
    assert term_in(secret, secret.sentence) is None
    banned = Clause("ban/second_price", None, ", second price.", 0.9)
    assert term_in(banned, "Not first price, second price.") is None


@pytest.mark.parametrize("meaning", ["other/all", "payment/vcg"])
def test_a_part_that_names_a_format_alone_asks_for_it(meaning: str) -> None:
    found = Clause(meaning, None, "Use a Vickrey auction", 0.4)
    assert term_in(found, "Use a Vickrey auction with a reserve.") == term_of(found.sentence)
    assert term_in(found, "Use a Vickrey auction, as we had.") is None


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I would not use a Vickrey auction.", "second_price"),
        ("I would not use Vickrey-Clarke-Groves.", "vcg"),
        ("I would not use VCG, after Vickrey.", "vcg"),
        ("I would not charge for harm.", "vcg"),
        ("I would not use a generalised Vickrey auction.", "vcg"),
    ],
)
def test_vickrey_alone_is_the_second_price(sentence: str, expected: str) -> None:
    found = with_vickrey_alone(Clause("ban/vcg", None, sentence, 0.9))
    assert found.meaning == f"ban/{expected}"


@pytest.mark.parametrize("part", ["VCG", ", no VCG", ", and tell them nothing."])
def test_a_name_in_a_remark_is_no_order(part: str) -> None:
    assert term_of(part) is not None
    assert (
        term_in(Clause("other/all", None, part, 0.4), f"My neighbour has no reserve{part}") is None
    )
