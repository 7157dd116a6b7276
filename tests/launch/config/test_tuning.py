"""Settings of a study: the spaces that are refused, and what they hold."""

from __future__ import annotations

from typing import Any

import pytest

from daedalus.launch.config.tuning import SpaceSettings, TuningSettings

REFUSED = [
    ({}, "no range; give low and high, or choices"),
    ({"low": 1.0}, "no range"),
    ({"low": 2.0, "high": 1.0}, "from 2.0 to 1.0; give low below high"),
    ({"low": 1.0, "high": float("inf")}, "give low below high"),
    ({"low": 0.0, "high": 1.0, "log": True}, "low: 0.0; a range with log begins above 0"),
    ({"low": 0.0, "high": 1.0, "choices": [1, 2]}, "a range and choices; give one of the two"),
    ({"choices": [1, 2], "log": True}, "a range and choices"),
    ({"choices": [1]}, "give two or more, each once"),
    ({"choices": [1, 2, 1]}, "give two or more, each once"),
    ({"choices": [[1], [2]]}, "give numbers, texts, true, false or null"),
]


@pytest.mark.parametrize(("space", "hint"), REFUSED)
def test_a_space_without_meaning_is_refused(space: dict[str, Any], hint: str) -> None:
    with pytest.raises(ValueError, match=rf"^training\.x: .*{hint}"):
        SpaceSettings("training.x", **space)


def test_a_range_holds_its_ends_and_what_lies_between() -> None:
    space = SpaceSettings("x", low=0.5, high=2.0)
    assert [space.holds(each) for each in (0.5, 1, 2.0)] == [True, True, True]
    assert [space.holds(each) for each in (0.4, 3, None, "1", True)] == [False] * 5
    assert space.examples() == [0.5, 2.0]


def test_choices_hold_themselves() -> None:
    space = SpaceSettings("x", choices=[None, "batch", 4])
    assert space.examples() == [None, "batch", 4]
    assert space.holds(None) and space.holds(4) and not space.holds(5)


def test_a_study_of_one_worker_cannot_be_shared() -> None:
    with pytest.raises(ValueError, match="worker: 0; several workers share a study"):
        TuningSettings(worker=0)
