"""Errors: they name the field, and a value is shown in a form that fits into an answer."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from daedalus.service.openenv.errors import FieldError, shown


@pytest.mark.parametrize("value", [None, True, 0, -(2**63) + 1, 0.5, "text"])
def test_a_plain_value_is_shown_as_it_is(value: Any) -> None:
    assert shown(value) is value or shown(value) == value


@pytest.mark.parametrize(
    ("value", "form"),
    [
        (2**63, "an integer of 64 bits"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        ({"a": 1}, "a JSON object"),
        ([1, 2], "a JSON array"),
        ("\ud800", "\\ud800"),
        ("é", "\\xe9"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 200 + "..."),
    ],
)
def test_a_value_that_does_not_fit_is_described(value: Any, form: str) -> None:
    assert shown(value) == form
    assert json.loads(json.dumps(shown(value), allow_nan=False)) == form


def test_a_field_error_says_what_is_allowed_and_keeps_its_parts() -> None:
    error = FieldError("n_agents", 2**70, "give an integer from 8 to 64")
    assert str(error) == (
        "n_agents: 'an integer of 71 bits' is not allowed; give an integer from 8 to 64"
    )
    assert (error.field, error.value, error.allowed) == (
        "n_agents",
        2**70,
        "give an integer from 8 to 64",
    )
