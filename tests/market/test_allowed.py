"""What was written about the values that may be set is read, or refused in a sentence."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given

from daedalus.market.allowed import Between, narrowed, read_allowed, written_allowed
from daedalus.market.goal import Goal
from tests.allowed import goals


def test_lists_and_ranges_are_read() -> None:
    written = {
        "auction_type": ["vcg", "first_price"],
        "reserve_price": {"max": 0.3, "min": 0},
        "reveal_reserve": [True],
        "shill_penalty": [1, 1.0, 2],
    }
    assert read_allowed(written) == {
        "auction_type": ("vcg", "first_price"),
        "reserve_price": Between(0.0, 0.3),
        "reveal_reserve": (True,),
        "shill_penalty": (1.0, 2.0),
    }
    assert read_allowed({}) == {}


@given(goal=goals)
def test_what_a_goal_keeps_is_read_as_it_is(goal: Goal) -> None:
    assert read_allowed(goal.allowed) == goal.allowed
    written = json.loads(json.dumps(written_allowed(goal.allowed)))
    assert Goal(allowed=read_allowed(written)).restrictions == goal.restrictions


def test_what_is_restricted_can_be_restricted_further() -> None:
    allowed = read_allowed({"reserve_price": {"min": 0.1, "max": 0.5}, "shill_penalty": [0, 1]})
    further = read_allowed({"reserve_price": [0.1, 0.3], "auction_type": ["vcg"]})
    assert narrowed(allowed, further) == allowed | further
    for written, said in (
        ({"reserve_price": [0.6]}, "allowed.reserve_price: 0.6 is not allowed; give a number from"),
        ({"shill_penalty": [2]}, "allowed.shill_penalty: 2.0 is not allowed; choose one of 0.0, 1"),
        ({"shill_penalty": {"min": 0, "max": 1}}, "is not allowed; give a list of values"),
    ):
        with pytest.raises(ValueError, match=re.escape(said)):
            narrowed(allowed, read_allowed(written))


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (["auction_type"], "allowed: ['auction_type'] is not allowed; give a mapping"),
        ({"colour": ["red"]}, "allowed.colour: ['red'] is not allowed; no such field; the fields"),
        ({"auction_type": "vcg"}, "allowed.auction_type: 'vcg' is not allowed; give a list of"),
        ({"auction_type": ["dutch"]}, "allowed.auction_type: 'dutch' is not allowed; choose one"),
        ({"auction_type": {"min": 0, "max": 1}}, "a range is for numbers; give a list of values"),
        ({"reveal_reserve": []}, "allowed.reveal_reserve: [] is not allowed; give at least one"),
        ({"reveal_reserve": [1]}, "allowed.reveal_reserve: 1 is not allowed; write true or false"),
        ({"reserve_price": 0.1}, "give a list of values, or {min: LOW, max: HIGH}"),
        ({"reserve_price": [0.1, 1.5]}, "allowed.reserve_price: 1.5 is not allowed; give a number"),
        ({"reserve_price": {"min": 0.1}}, "give a range as {min: LOW, max: HIGH}"),
        ({"reserve_price": {"min": 0.1, "max": 9}}, "allowed.reserve_price: 9 is not allowed"),
        ({"reserve_price": {"min": "a", "max": 1}}, "allowed.reserve_price: 'a' is not allowed"),
        ({"reserve_price": {"min": 0.5, "max": 0.1}}, "the range ends before it begins; exchange"),
        ({"reserve_price": Between(0.5, 0.1)}, "the range ends before it begins; exchange"),
        ({"reserve_price": Between(float("nan"), 0.5)}, "allowed.reserve_price: nan"),
        ({"auction_type": Between(0, 1)}, "a range is for numbers; give a list of values"),
    ],
)
def test_what_is_no_restriction_is_refused_in_a_sentence(written: Any, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)) as told:
        read_allowed(written)
    assert str(told.value).count("allowed.") <= 1
