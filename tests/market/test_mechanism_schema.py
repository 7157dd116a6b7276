"""The mechanism's JSON schema and pattern say what the parser accepts, and no more."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from daedalus.market.mechanism import (
    CHOICES,
    FIELDS,
    FLAGS,
    RANGES,
    Mechanism,
    MechanismError,
    checked_field,
)
from daedalus.market.mechanism_schema import mechanism_pattern, mechanism_schema
from daedalus.market.parsing import format_mechanism, parse_mechanism

PATTERN = re.compile(mechanism_pattern())


def spelled(**changes: str) -> str:
    """Return a mechanism's text with some values written as given."""
    values = {name: json.dumps(value) for name, value in Mechanism().to_dict().items()} | changes
    return "{" + ",".join(f'"{name}":{value}' for name, value in values.items()) + "}"


def test_the_schema_is_strict_and_has_the_parser_s_limits() -> None:
    schema = mechanism_schema()
    assert schema["required"] == list(schema["properties"]) == list(FIELDS)
    assert schema["additionalProperties"] is False
    for name, field in schema["properties"].items():
        assert field["description"]
        if field["type"] == "number":
            assert (field["minimum"], field["maximum"]) == RANGES[name]
            checked_field(name, field["minimum"])
            checked_field(name, field["maximum"])
            with pytest.raises(MechanismError):
                checked_field(name, np.nextafter(field["maximum"], 9))
        elif field["type"] == "string":
            assert tuple(field["enum"]) == CHOICES[name]
        else:
            assert name in FLAGS and field["type"] == "boolean"


@pytest.mark.parametrize("name", RANGES)
def test_every_value_that_can_be_spelled_is_valid_and_spelled_as_it_is_written(name: str) -> None:
    low, high = RANGES[name]
    numbers = [f"{number / 100:.{places}f}" for number in range(-2, 304) for places in (1, 2)]
    found = [text for text in numbers if PATTERN.fullmatch(spelled(**{name: text}))]
    for text in found:
        parsed = parse_mechanism(spelled(**{name: text})).mechanism
        assert parsed is not None and format_mechanism(parsed) == spelled(**{name: text})
    assert len(set(found)) == round(100 * (high - low)) + 1
    assert {str(low), str(high)} <= set(found)


@pytest.mark.parametrize(
    "text",
    [
        spelled(reserve_price="0.91"),
        spelled(reserve_price="0.905"),
        spelled(reserve_price="-0.0"),
        spelled(reserve_price="0"),
        spelled(reserve_price="0.10"),
        spelled(reserve_price="0x1"),
        spelled(shill_penalty="3.01"),
        spelled(shill_penalty="1e0"),
        spelled(reveal_reserve="True"),
        spelled(auction_type='"dutch"'),
        spelled() + "\n",
        spelled()[:-1],
        spelled().replace(",", ", "),
        "{}",
    ],
)
def test_what_is_not_a_mechanism_as_it_is_written_does_not_match(text: str) -> None:
    assert not PATTERN.fullmatch(text)
