"""Answers to briefs say what was understood, and then a mechanism that it allows."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from daedalus.design.briefs.answers import (
    answer_text,
    clauses_in,
    in_words,
    mechanism_in,
    mechanism_pattern_for,
    neighbour_answer,
    reading_pattern,
    reading_text,
    true_clauses,
    understood_in,
    values_text,
)
from daedalus.design.briefs.clauses import Clause
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.design.briefs.meanings import MEANINGS
from daedalus.design.briefs.splits import SPLITS
from daedalus.market.goal import Goal
from daedalus.market.mechanism import Mechanism
from tests.design.briefs.conftest import as_frozen

BRIEF = "Earn as much as you can. Never sell below 0.2. No fine may exceed one and a half."
CLAUSES = [Clause("aim/revenue"), Clause("reserve_least/x", 0.2), Clause("no_fines/all")]


def test_an_answer_is_read_as_it_was_written() -> None:
    mechanism = Mechanism(auction_type="vcg", reserve_price=0.35, reveal_reserve=True)
    answer = answer_text(CLAUSES, mechanism)
    assert answer.startswith('aim-revenue;reserve-least=0.2;no-fines|["vcg",0.35,true,')
    assert [(each.meaning, each.amount) for each in clauses_in(answer, BRIEF)] == [
        (each.meaning, each.amount) for each in CLAUSES
    ]
    assert mechanism_in(answer) == mechanism == mechanism_in(values_text(mechanism))
    assert understood_in(answer, BRIEF).reward == {"revenue": 1.0}


def test_meanings_are_spelt_differently_and_without_spaces() -> None:
    spelt = [in_words(name) for name in MEANINGS]
    assert len(set(spelt)) == len(MEANINGS)
    assert not any(set(each) & set(" ;|=") for each in spelt)


def test_a_sentence_gets_one_meaning_and_an_amount_of_its_own() -> None:
    pattern = reading_pattern(BRIEF)
    assert re.fullmatch(pattern, reading_text(CLAUSES))
    assert not re.fullmatch(pattern, reading_text(CLAUSES[:2]))
    for other in (Clause("reserve_least/x", 0.3), Clause("reserve_least/x", 1.5)):
        assert not re.fullmatch(pattern, reading_text([CLAUSES[0], other, CLAUSES[2]]))
    third = Clause("shill_fine/least", 1.5)
    assert re.fullmatch(pattern, reading_text([*CLAUSES[:2], third]))
    assert not re.fullmatch(pattern, reading_text([third, *CLAUSES[1:]]))  # it names no amount


@pytest.mark.slow
@pytest.mark.parametrize("split", SPLITS)
def test_the_truth_of_every_frozen_brief_can_be_said(split: str) -> None:
    for brief in frozen_briefs(split):
        said = reading_text(true_clauses(brief))
        assert re.fullmatch(reading_pattern(brief.text), said), brief
        found = understood_in(said, brief.text)
        assert replace(found, allowed=as_frozen(found.allowed)).same_as(brief.truth)


def test_the_mechanism_is_one_that_the_reading_allows() -> None:
    pattern = mechanism_pattern_for(reading_text(CLAUSES), BRIEF)
    kept = Mechanism(reserve_price=0.25, withdrawal_penalty=0.0, collusion_penalty=0.0)
    assert re.fullmatch(pattern, values_text(kept))
    assert not re.fullmatch(pattern, values_text(Mechanism(reserve_price=0.1)))


def test_neighbours_change_one_meaning_or_one_value_and_stay_allowed() -> None:
    rng = np.random.default_rng(0)
    goal = Goal({}, understood_in(reading_text(CLAUSES), BRIEF).allowed)
    mechanism = Mechanism(reserve_price=0.25, withdrawal_penalty=0.0, collusion_penalty=0.0)
    answer = answer_text(CLAUSES, mechanism)
    assert goal.admits(mechanism)
    changed = {"meaning": 0, "value": 0}
    for _ in range(60):
        near = neighbour_answer(answer, BRIEF, rng)
        read = near.partition("|")[0]
        same_reading = read == answer.partition("|")[0]
        changed["value" if same_reading else "meaning"] += 1
        assert re.fullmatch(reading_pattern(BRIEF), f"{read}|")
        assert re.fullmatch(mechanism_pattern_for(near, BRIEF), near.partition("|")[2])
        pairs = zip(clauses_in(near, BRIEF), CLAUSES, strict=True)
        apart = sum((a.meaning, a.amount) != (b.meaning, b.amount) for a, b in pairs)
        assert apart == (0 if same_reading else 1)
        assert same_reading or mechanism_in(near) != mechanism  # or its reward would say nothing
    assert min(changed.values()) >= 5
    alone = [neighbour_answer(values_text(mechanism), BRIEF, rng) for _ in range(5)]
    assert all("|" not in each for each in alone)
    assert any(a != b for a, b in pairwise(alone))


@pytest.mark.parametrize(
    "answer", ["aim-revenue|[1]", "aim-glory;nothing;nothing|[]", "aim-revenue;nothing|[]"]
)
def test_what_is_no_answer_is_refused(answer: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        mechanism_in(answer)
    if answer != "aim-revenue|[1]":
        with pytest.raises(ValueError, match=r"."):
            clauses_in(answer, BRIEF)
