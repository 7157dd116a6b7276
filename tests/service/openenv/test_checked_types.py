"""Ranges: numbers within them pass, and an error says what is allowed."""

from __future__ import annotations

import math
from typing import Annotated, Any

import pytest
from pydantic import ValidationError, create_model

from daedalus.service.openenv.checked_types import Strict, integer, measured, number


def model(kind: Any) -> type[Strict]:
    """Return a message with one required field."""
    return create_model("Message", __base__=Strict, field=(kind, ...))


INTEGER = model(Annotated[int, *integer(2, 5)])
NUMBER = model(Annotated[float, *number(0.0, 0.9)])
SHARE = model(Annotated[float, *measured(0, 1)] | None)
AMOUNT = model(Annotated[float, *measured(0)] | None)
ANY = model(Annotated[float, *measured()] | None)


@pytest.mark.parametrize(
    ("message", "values"),
    [
        (INTEGER, [2, 5]),
        (NUMBER, [0, 0.9]),
        (SHARE, [0, 1, 1 + 9e-7, -9e-7, None]),
        (AMOUNT, [0, 1e300, -9e-7, None]),
        (ANY, [-1e300, 1e300, None]),
    ],
)
def test_a_number_in_its_range_passes(message: type[Strict], values: list[Any]) -> None:
    for value in values:
        assert message.model_validate({"field": value}).model_dump() == {"field": value}


@pytest.mark.parametrize(
    ("message", "values", "allowed"),
    [
        (INTEGER, [1, 6, 2.0, "2", True, None], "give an integer from 2 to 5"),
        (NUMBER, [-0.1, 0.91, math.nan, "0.1", True, None], "give a number from 0.0 to 0.9"),
        (SHARE, [1.1, -0.1, math.nan, "0.1", True], "give a number from 0 to 1, or null"),
        (AMOUNT, [-0.1, math.inf], "give a finite number of at least 0, or null"),
        (ANY, [math.inf, math.nan, []], "give a finite number, or null"),
    ],
)
def test_an_error_says_what_is_allowed(
    message: type[Strict], values: list[Any], allowed: str
) -> None:
    for value in values:
        with pytest.raises(ValidationError) as caught:
            message.model_validate({"field": value})
        assert allowed in {error["msg"] for error in caught.value.errors()}, value


def test_the_schema_of_a_measured_number_has_its_ends() -> None:
    ends = {"minimum", "maximum"}
    for message, expected in ((SHARE, {"minimum": 0, "maximum": 1}), (AMOUNT, {"minimum": 0})):
        schema = message.model_json_schema()["properties"]["field"]["anyOf"][0]
        assert {name: schema[name] for name in ends & set(schema)} == expected


def test_an_unknown_field_is_an_error() -> None:
    with pytest.raises(ValidationError, match="extra"):
        ANY.model_validate({"field": 1.0, "fild": 2.0})
