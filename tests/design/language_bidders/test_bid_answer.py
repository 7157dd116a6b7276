"""Bids are found in what models write, or not at all."""

from __future__ import annotations

import re

import pytest

from daedalus.design.language_bidders.bid_answer import BIDS_PATTERN, Bids, read_bids

PLAIN = (0.1, 0.2, 0.3, 0.4, 0.5)


@pytest.mark.parametrize(
    "text",
    [
        "[10, 20, 30, 40, 50]",
        "```json\n[10,20,30.0,40,50]\n```",
        "I shade my bids [see 1].\n\nBids: [10, 20, 30, 40, 50], because [1, 2] ...",
        '{"bids": [10, 20, 30, 40, 50]}',
        "<think>[1, 2, 3, 4, 5] is too low</think> [10, 20, 30, 40, 50]",
        "[[10, 20, 30, 40, 50]]",
    ],
)
def test_the_only_array_of_five_numbers_counts(text: str) -> None:
    assert read_bids(text) == Bids(pytest.approx(PLAIN), 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I bid 10, 20, 30, 40 and 50.",
        '["ten", "twenty", "thirty", "forty", "fifty"]',
        '["10", "20", "30", "40", "50"]',
        "[10, 20, 30, 40]",
        "[10, 20, 30, 40, 50, 60]",
        "[10, 20, 30, 40, true]",
        "[10, 20, 30, 40, null]",
        "[10, 20, 30, 40, NaN]",
        "[10, 20, 30, 40, Infinity]",
        "[10, 20, 30, 40, 1" + "0" * 400 + "]",
        "[10, 20, 30, 40, 50",
        "Values [20, 40, 60, 80, 100], bids [10, 20, 30, 40, 50]",
        "[" * 100_000,
        "<think> maybe [10, 20, 30, 40, 50] or",
    ],
)
def test_anything_else_is_unreadable(text: str) -> None:
    assert read_bids(text) is None


def test_bids_out_of_range_are_clipped_and_counted() -> None:
    assert read_bids("[-5, 0, 99.5, 100, 2e3]") == Bids((0.0, 0.0, 0.995, 1.0, 1.0), 2)


def test_the_pattern_spells_what_is_read() -> None:
    for text in ("[0,7,42,99,100]", "[0,0,0,0,0]"):
        assert re.fullmatch(BIDS_PATTERN, text) and read_bids(text)
    for text in ("[0,0,0,0,101]", "[0,0,0,0,05]", "[0,0,0,0]", "[0, 0, 0, 0, 0]"):
        assert not re.fullmatch(BIDS_PATTERN, text)
