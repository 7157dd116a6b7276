"""Two amounts are a range where the words say so, and nothing where they tell of something else."""

from __future__ import annotations

import pytest

from daedalus.design.briefs.direction import other_sides
from daedalus.design.briefs.ranges import range_by_its_words, range_in
from daedalus.design.briefs.readers import clause

ODDS = {"reserve_least/x": 0.4, "reserve_most/x": 0.3, "reserve_exact/x": 0.2, "aim/revenue": 0.1}


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("Keep the reserve between a fifth and a half.", 0.2, 0.5),
        ("Reserve 20-40%.", 0.2, 0.4),
        ("a reserve from 0.2 to 0.5", 0.2, 0.5),
        ("reserve in [0.3, 0.6]", 0.3, 0.6),
        ("0.22 \u2264 reserve \u2264 0.44", 0.22, 0.44),
        ("no less than 0.5, but never more than 1.5", 0.5, 1.5),
        ("not over 0.7 and not under 0.5", 0.5, 0.7),
        ("no reserve below 0.2 or above 0.5", 0.2, 0.5),
        ("neither less than 0.45 nor more than 0.7", 0.45, 0.7),
        ("floor of 0.1, ceiling of 0.4", 0.1, 0.4),
        ("min reserve .4 max reserve .8", 0.4, 0.8),
        ("it starts at a third of the top value and stops at two thirds", 0.3333, 0.6667),
        ("reserve 0.6 or higher, 0.2 or lower", 0.6, 0.2),  # they exclude each other
    ],
)
def test_words_name_a_range(text: str, least: float, most: float) -> None:
    assert range_in(text) == {"least": least, "most": most}


@pytest.mark.parametrize(
    "text",
    [
        "Raise the reserve from 0.2 to 0.4.",
        "Take the reserve down from 0.6 to 0.4.",
        "our forfeit goes from 1 to 1.5",
        "anything but between 0.2 and 0.4",
        "I will not have a reserve in the 0.3 to 0.5 range",
        "last year it was between 0.2 and 0.4",
        "Other halls set reserves between 15 and 30 percent",
        "0.2 or 0.3",
        "reserve 0.2, fine 1.5",
        "Less than 0.6 is a joke, more than 1.8 is robbery",
        "at least 0.2",
        "less than a tenth is out of the question, and anything from a tenth upward will do",
        "between 0.2, 0.3 and 0.4",
    ],
)
def test_other_amounts_are_no_range(text: str) -> None:
    assert range_in(text) == {}


def test_a_range_is_two_meanings_of_what_any_bound_of_the_field_has() -> None:
    text = "between 0.2 and 0.5"
    found = range_by_its_words("reserve_exact/x", text, f"Reserve {text}.", ODDS)
    assert [(meaning, amount) for meaning, amount, _ in found] == [
        ("reserve_least/x", 0.2),
        ("reserve_most/x", 0.5),
    ]
    assert {round(sure, 9) for *_, sure in found} == {0.9}
    assert not range_by_its_words("aim/revenue", text, text, ODDS)
    assert not range_by_its_words("shill_fine/least", text, text, ODDS)  # nothing bounds its top
    taken_back = "Forget what I said about a reserve between 0.2 and 0.5."
    assert not range_by_its_words("reserve_least/x", text, taken_back, ODDS)


def test_an_end_whose_amount_is_not_found_is_named() -> None:
    text = "at least half of the value, but never more than all of it"
    (other,) = other_sides([clause("withdrawal_fine/least", text, 0.9)])
    assert other.meaning == "withdrawal_fine/most"
    assert "another limit" in other.fault
    for meaning, words in (
        ("withdrawal_fine/least", "at least half of the value"),
        ("reserve_most/x", "We promised that berths start from 0.2 of the value or less."),
        ("reserve_exact/x", text),
        ("shill_fine/least", text),
    ):
        assert not [*other_sides([clause(meaning, words, 0.9)])]
