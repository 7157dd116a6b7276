"""Actions and mechanisms: a codec both ways, and levels that are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from daedalus.doors.gym import FEATURES, LEVELS, decode, encode
from daedalus.doors.gym.spaces import action_space, observation_space
from daedalus.market.mechanism import FIELDS, Mechanism


def test_an_action_is_a_level_of_each_field_in_order() -> None:
    space = action_space()
    assert [*space.nvec] == [len(LEVELS[name]) for name in FIELDS]
    space.seed(0)
    for _ in range(50):
        action = space.sample()
        made = decode(action)
        assert made.to_dict() == {
            name: LEVELS[name][place] for name, place in zip(FIELDS, action, strict=True)
        }
        np.testing.assert_array_equal(encode(made), action)
    assert space.contains(encode(Mechanism("vcg", 0.26, shill_penalty=0.4)))
    assert decode(encode(Mechanism("vcg", 0.26, shill_penalty=0.4))) == Mechanism(
        "vcg", 0.3, shill_penalty=0.5
    )
    assert observation_space().shape == (len(FEATURES),) == (49,)


def test_what_is_no_level_is_refused() -> None:
    for column, value in ((0, 3), (1, 10), (2, 2), (10, -1)):
        action = np.zeros(11, np.int64)
        action[column] = value
        with pytest.raises(ValueError, match=f"action: {FIELDS[column]} has no level {value}"):
            decode(action)


@pytest.mark.parametrize(
    ("action", "was"),
    [
        (np.zeros(11), r"float64 of shape \(11,\)"),
        (np.zeros(11, np.bool_), r"bool of shape \(11,\)"),
        (["0"] * 11, r"str\d+ of shape \(11,\)"),
        (np.zeros(11, object), r"ndarray of shape \(11,\)"),
        (np.zeros(10, np.int64), r"int64 of shape \(10,\)"),
        (np.zeros((1, 11), np.int64), r"int64 of shape \(1, 11\)"),
        (0, r"int64 of shape \(\)"),
        ([], r"float64 of shape \(0,\)"),
        ([[0], [0, 1]], r"list of shape \(\)"),
        ([2**70] * 11, r"list of shape \(11,\)"),
        (None, r"NoneType of shape \(\)"),
        ("vcg", "str"),
    ],
)
def test_what_is_no_array_of_integers_is_refused(action: Any, was: str) -> None:
    told = (
        rf"^action: {was}.*; give integers of shape \(11,\): of each field the number of a level$"
    )
    with pytest.raises(ValueError, match=told):
        decode(action)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64, list, tuple])
def test_integers_of_any_kind_are_the_same_action(kind: Any) -> None:
    action = [2, 3, 1, 0, 1, 0, 1, 2, 1, 1, 3]
    given = kind(action) if kind in (list, tuple) else np.array(action, kind)
    assert decode(given) == decode(np.array(action, np.int64))
