"""Goals: what may be set, and the sentence about what may not."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from daedalus.design.search.space import GRID, LEVELS, random_mechanisms
from daedalus.market.allowed import Between
from daedalus.market.goal import ANYTHING, Goal, by_allowed, nearest_allowed, refuse_others
from daedalus.market.mechanism import CHOICES, FLAGS, Mechanism, Mechanisms
from daedalus.market.mechanism_schema import mechanism_pattern
from daedalus.market.parsing import format_mechanism, parse_mechanism
from tests.allowed import goals, mechanisms

NARROW = Goal(
    allowed={"auction_type": ("vcg",), "reserve_price": Between(0.1, 0.3), "shill_penalty": (1, 2)}
)


@pytest.mark.parametrize(
    ("mechanism", "said"),
    [
        (Mechanism("vcg", 0.2, shill_penalty=1), ""),
        (Mechanism(shill_penalty=1), "auction_type: 'second_price' is not allowed; write vcg"),
        (Mechanism("vcg", 0.5), "reserve_price: 0.5 is not allowed; give a number from 0.1 to 0.3"),
        (Mechanism("vcg"), "shill_penalty: 0.0 is not allowed; choose one of 1.0, 2.0"),
    ],
)
def test_a_mechanism_is_refused_by_field_value_and_what_is_allowed(
    mechanism: Mechanism, said: str
) -> None:
    assert NARROW.refusal(mechanism) == said and NARROW.admits(mechanism) is not bool(said)
    parsed = parse_mechanism(format_mechanism(mechanism), goal=NARROW)
    assert parsed.valid is not bool(said) and parsed.reason.startswith(said)


def test_a_goal_that_restricts_nothing_changes_nothing() -> None:
    drawn = random_mechanisms(5, np.random.default_rng(0))
    assert ANYTHING.settings(GRID) is GRID and ANYTHING.settings(LEVELS) is LEVELS
    assert ANYTHING.nearest(drawn) is drawn
    assert nearest_allowed(drawn, np.full(5, Goal({"revenue": 1.0}))) is drawn
    assert mechanism_pattern({}) == mechanism_pattern()


def test_numbers_move_to_the_nearest_and_words_to_the_first_allowed() -> None:
    goal = Goal(allowed=dict(NARROW.allowed) | {"coalition_policy": ["restrict", "allow"]})
    given = [
        Mechanism(reserve_price=0.9, shill_penalty=0.4, coalition_policy="penalize_confirmed"),
        Mechanism("vcg", 0.25, shill_penalty=1.9),
    ]
    moved = goal.nearest(Mechanisms.stack([*given, None]))
    assert moved[0] == Mechanism("vcg", 0.3, shill_penalty=1, coalition_policy="restrict")
    assert moved[1] == Mechanism("vcg", 0.25, shill_penalty=2)
    assert moved.malformed.tolist() == [False, False, True]


def test_a_range_of_the_grid_has_its_ends() -> None:
    goal = Goal(allowed={"reserve_price": Between(0.123, 0.155)})
    assert goal.settings(GRID)["reserve_price"] == (0.123, 0.13, 0.14, 0.15, 0.155)
    assert goal.settings(LEVELS)["reserve_price"] == (0.123, 0.155)


def test_a_range_is_not_its_two_ends() -> None:
    some, between = (
        Goal(allowed={"reserve_price": each}) for each in ((0.1, 0.3), Between(0.1, 0.3))
    )
    each = np.array([some, between], object)
    assert [rows.tolist() for _, rows in by_allowed(each)] == [[0], [1]]
    moved = nearest_allowed(Mechanisms.repeat(Mechanism(reserve_price=0.25), 2), each)
    assert moved.reserve_price.tolist() == [0.3, 0.25]


def test_rows_follow_their_own_goals() -> None:
    each = np.array([NARROW, ANYTHING, NARROW], object)
    moved = nearest_allowed(Mechanisms.repeat(Mechanism(), 3), each)
    assert [NARROW.admits(moved[row]) for row in range(3)] == [True, False, True]
    assert [rows.tolist() for _, rows in by_allowed(each)] == [[0, 2], [1]]
    refuse_others(moved, each)
    with pytest.raises(ValueError, match="auction_type: 'second_price' is not allowed; write vcg"):
        refuse_others(Mechanisms.repeat(Mechanism(), 3), each)


@given(goals, mechanisms)
def test_the_nearest_is_admitted_and_an_admitted_one_stays(
    goal: Goal, mechanism: Mechanism
) -> None:
    moved = goal.nearest(Mechanisms.stack([mechanism]))[0]
    assert goal.admits(moved) and goal.admits(mechanism) == (moved == mechanism)
    for name in (*CHOICES, *FLAGS):
        if getattr(mechanism, name) in goal.values(name):
            assert getattr(moved, name) == getattr(mechanism, name)


@pytest.mark.slow
@given(goals, st.data())
def test_the_pattern_matches_the_admitted_mechanisms_in_hundredths(
    goal: Goal, data: st.DataObject
) -> None:
    pattern = re.compile(mechanism_pattern(goal.allowed))
    settings, whole = goal.settings(GRID), data.draw(mechanisms)
    drawn = {name: data.draw(st.sampled_from(values)) for name, values in settings.items()}
    inside = Mechanism(**drawn)
    assert goal.admits(inside) and pattern.fullmatch(format_mechanism(inside))
    rounded = Mechanisms.stack([whole]).rounded()[0]
    assert bool(pattern.fullmatch(format_mechanism(rounded))) == goal.admits(rounded)
