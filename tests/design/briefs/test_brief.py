"""Files of briefs: what they hold comes back, and a bad line is one sentence with its number."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from daedalus.design.briefs.brief import BriefError, brief_from, read_briefs, write_briefs
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.market.allowed import Between

GOOD: dict[str, Any] = {
    "id": "a",
    "brief": "Sell dear.",
    "population": "stage3",
    "reward": {"revenue": 0.7, "fairness": 0.3},
    "allowed": {"auction_type": ["first_price"], "reserve_price": {"min": 0.1, "max": 0.4}},
    "floors": {"participation": 0.5},
}


def test_a_brief_comes_back(tmp_path: Path) -> None:
    brief = brief_from(GOOD)
    path = tmp_path / "briefs.jsonl"
    write_briefs([brief], path)
    assert read_briefs(path) == [brief] and read_briefs(path)[0].place == f"{path}, line 1"
    path.write_text(path.read_text(), encoding="utf-8-sig", newline="\r\n")  # by an editor
    assert read_briefs(path) == [brief]
    assert brief.allowed["reserve_price"] == Between(0.1, 0.4)
    assert brief.to_dict() == GOOD


def test_who_says_nothing_wants_r() -> None:
    brief = brief_from({"id": "a", "brief": "Hello.", "population": "stage1"})
    assert brief.reward == {"composite": 1.0} and not brief.goal.allowed


@pytest.mark.parametrize(
    "clauses",
    [
        ["payment/first_price", "reserve_least/x 0.2", "also/fairness"],
        ["ban/vcg", "ban/second_price", "nothing/all", "other/all"],
        ["conditional/ring 0.5", "fact/ring", "floor/participation 0.5"],
    ],
)
def test_clauses_may_say_more_or_less_than_what_is_allowed(clauses: list[str]) -> None:
    assert brief_from(GOOD | {"clauses": clauses}).clauses == tuple(clauses)


def test_clauses_of_frozen_briefs_agree() -> None:
    assert all(brief_from(each.to_dict()) == each for each in frozen_briefs("training")[:500])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"reward": {"profit": 1}}, "reward: no term 'profit'; choose from welfare"),
        ({"reward": {"revenue": -1}}, "reward.revenue: -1; give a number from 0 to 1,000,000"),
        ({"reward": {"revenue": 10**400}}, "0; give a number from 0 to 1,000,000"),
        ({"reward": {"revenue": 10**4000}}, "an integer of 13288 bits; give a number from 0"),
        ({"reward": {"revenue": 0}}, "reward: no term has a weight above 0"),
        ({"floors": {"fairness": 2}}, "floors.fairness: 2; give a number from 0 to 1"),
        ({"floors": [1]}, "floors: [1]; give an object, by name"),
        ({"reward": []}, "reward: []; give an object, by name"),
        ({"allowed": {"colour": ["red"]}}, "no such field"),
        ({"allowed": {"auction_type": []}}, "at least one value"),
        ({"allowed": {"auction_type": ["dutch"]}}, "'dutch' is not allowed"),
        ({"allowed": {"reserve_price": {"min": 0.4, "max": 0.1}}}, "exchange its ends"),
        ({"allowed": {"reserve_price": {"min": 0.4, "max": 2}}}, "2"),
        ({"brief": " "}, "brief: ' '; give a text that is not empty"),
        ({"brief": ["x" * 3000]}, "x…; give a text that is not empty"),
        ({"id": 7}, "id: 7; give a text"),
        ({"colour": 1}, "no key 'colour'"),
        ({"x" * 3000: 1}, "x…; the keys are id"),
        ({"scale": {"floor": 1}}, "scale"),
        *(
            ({"scale": {"floor": low, "ceiling": high, "mechanism": {}}}, "scale: give floor")
            for low, high in [("a", 1), (0, math.inf), (math.nan, 1), (False, 1), (0, 10**400)]
        ),
        (
            {"scale": {"floor": 0, "ceiling": 1, "mechanism": {}}},
            "scale.mechanism.auction_type: 'second_price' is not allowed; write first_price",
        ),
        (
            {"scale": {"floor": 0, "ceiling": 1, "mechanism": {"colour": "red"}}},
            "scale.mechanism.colour: 'red' is not allowed; no such field",
        ),
        (
            {"scale": {"floor": 0, "ceiling": 1, "mechanism": {"reserve_price": 2}}},
            "scale.mechanism.reserve_price: 2 is not allowed; give a number from 0.0 to 0.9",
        ),
        (
            {"clauses": ["aim/revenue", "payment/first_price", "payment/vcg"]},
            "clauses: 'payment/first_price' excludes 'payment/vcg' (auction_type); leave one",
        ),
        (
            {"clauses": ["reserve_most/x 0.1", "reserve_least/x 0.2"]},
            "'reserve_most/x 0.1' excludes 'reserve_least/x 0.2' (reserve_price)",
        ),
        ({"clauses": ["fact/ring", "fact/honest"]}, "excludes 'fact/honest' (the bidders)"),
        (
            {"clauses": ["payment/vcg"]},
            "allowed.auction_type: it excludes 'payment/vcg' of clauses; change one of them",
        ),
        ({"clauses": ["reserve_least/x 0.5"]}, "allowed.reserve_price: it excludes 'reserve_least"),
        ({"clauses": ["reserve_least/x"]}, "'reserve_least/x'; it names no amount"),
        ({"clauses": ["reserve_least/x 7"]}, "it names 7; reserve_price is from 0 to 0.9"),
        ({"clauses": ["reserve_least/x two"]}, "write its amount as a number"),
        ({"clauses": [f"reserve_least/x {'x' * 3000}"]}, "x…; write its amount as a number"),
        ({"clauses": "abc"}, "clauses: 'abc'; give a list of meanings"),
        ({"clauses": [""]}, "clauses: ['']; give a list of meanings"),
        ({"brief": "\ud83d"}, "a \\ud… escape without its other half; write the character"),
        ({"told_population": 3}, "told_population: 3; give a name"),
        ({"told_population": ["x" * 3000]}, "x…; give a name"),
    ],
)
def test_a_bad_line_is_one_sentence(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = tmp_path / "briefs.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n\n{json.dumps(GOOD | {'id': 'b'} | change)}\n")
    with pytest.raises(BriefError) as caught:
        read_briefs(path)
    assert str(caught.value).startswith(f"{path}, line 3: ") and said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "has no line"),
        ('{"id": ', "line 1: no JSON (Expecting value at column 8)"),
        ("[1]", "line 1: [1] is no object"),
        ("\n" + "[" * 100_000, "line 2: nested too deeply; write one object"),
        ("9" * 5000, "line 1: a number has thousands of digits; write fewer"),
        ('\n{"id": "\xe9"}', "line 2: no UTF-8 (byte 9 of the line); save the file as UTF-8"),
        (
            f'{json.dumps(GOOD)}\n{{"id": "b", "allowed": {{"reserve_price": [0.1], '
            '"reserve_price": [0.2]}, "brief": "x", "population": "stage1"}',
            "line 2: 'reserve_price' appears twice, as [0.1] and [0.2]; write it once",
        ),
        ('{"id": "a", "id": "b"}', "line 1: 'id' appears twice, as 'a' and 'b'; write it once"),
        ('{"id": "a", "brief": "x"}', "line 1: population is missing"),
        (f"{json.dumps(GOOD)}\n{json.dumps(GOOD)}", "line 2: id 'a' stands twice"),
    ],
)
def test_what_is_no_file_of_briefs_says_so(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "briefs.jsonl"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(BriefError) as caught:
        read_briefs(path)
    assert said in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BriefError, match=r"none\.jsonl cannot be read"):
        read_briefs(tmp_path / "none.jsonl")


def test_a_brief_that_cannot_be_played_is_named_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "briefs.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{json.dumps(GOOD | {'id': 'b', 'population': 'x'})}\n")

    def market(name: str) -> None:
        if name == "x":
            raise ValueError("no bidders")

    with pytest.raises(BriefError, match=r"briefs\.jsonl, line 2: no bidders"):
        read_briefs(path, market)
