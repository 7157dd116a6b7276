"""The mechanism as a JSON schema, and as a pattern of all texts that spell one."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from daedalus.market.mechanism import CHOICES, EFFECTS, FIELDS, RANGES


def mechanism_schema() -> dict[str, Any]:
    """Return the strict JSON schema of a mechanism.

    All eleven fields are required and no other is allowed. Servers ask for this in a schema that
    constrains decoding (OpenAI 2024, "Structured Outputs").
    """
    properties = {name: _field_schema(name) | {"description": EFFECTS[name]} for name in FIELDS}
    return {
        "type": "object",
        "properties": properties,
        "required": list(FIELDS),
        "additionalProperties": False,
    }


def mechanism_pattern() -> str:
    r"""Return a regular expression of the texts that spell a mechanism in hundredths.

    It matches the text that ``format_mechanism`` writes for each valid mechanism whose numbers have
    at most two decimals. It matches nothing else: no white space, no other order of the fields, no
    second spelling of a number. It uses only literals, groups and ``|``, which mean the same in
    every engine.
    """
    pairs = [
        f'"{name}":({"|".join(re.escape(text) for text in texts)})'
        for name, texts in _spellings().items()
    ]
    return r"\{" + ",".join(pairs) + r"\}"


def _field_schema(name: str) -> dict[str, Any]:
    if name in CHOICES:
        return {"type": "string", "enum": list(CHOICES[name])}
    if name in RANGES:
        low, high = RANGES[name]
        return {"type": "number", "minimum": low, "maximum": high}
    return {"type": "boolean"}


def _spellings() -> dict[str, list[str]]:
    """Return the values of each field as compact JSON, numbers in hundredths."""
    fields = mechanism_schema()["properties"]
    return {name: [json.dumps(value) for value in _values(each)] for name, each in fields.items()}


def _values(field: dict[str, Any]) -> list[Any]:
    """Return the values that a field's schema allows, numbers in hundredths."""
    if field["type"] != "number":
        return list(field.get("enum", (False, True)))
    low, high = field["minimum"], field["maximum"]
    hundredths = range(math.floor(100 * low), math.ceil(100 * high) + 1)
    return [each / 100 for each in hundredths if low <= each / 100 <= high]
