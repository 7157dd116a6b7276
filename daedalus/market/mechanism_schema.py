"""The mechanism as a JSON schema, and as a pattern of all texts that spell one."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from daedalus.market.allowed import Allowed, Between
from daedalus.market.goal import Goal
from daedalus.market.mechanism import CHOICES, EFFECTS, FIELDS, RANGES


def mechanism_schema(allowed: Mapping[str, Allowed] | None = None) -> dict[str, Any]:
    """Return the strict JSON schema of a mechanism.

    All eleven fields are required and no other is allowed. Servers ask for this in a schema that
    constrains decoding (OpenAI 2024, "Structured Outputs").

    Args:
        allowed: What the fields may be, see ``Goal``; those that are not named are free.
    """
    goal = Goal(allowed=allowed or {})
    properties = {
        name: _field_schema(name, goal.values(name)) | {"description": EFFECTS[name]}
        for name in FIELDS
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(FIELDS),
        "additionalProperties": False,
    }


def mechanism_pattern(allowed: Mapping[str, Allowed] | None = None) -> str:
    r"""Return a regular expression of the texts that spell a mechanism in hundredths.

    It matches the text that ``format_mechanism`` writes for each valid mechanism whose numbers have
    at most two decimals. It matches nothing else: no white space, no other order of the fields, no
    second spelling of a number. It uses only literals, groups and ``|``, which mean the same in
    every engine.

    Args:
        allowed: What the fields may be, see ``Goal``. It matches allowed values alone, and those
            named there and the ends of ranges may have more decimals.
    """
    pairs = (f'"{name}":{texts}' for name, texts in _spellings(allowed).items())
    return r"\{" + ",".join(pairs) + r"\}"


def values_pattern(allowed: Mapping[str, Allowed] | None = None) -> str:
    r"""Return a regular expression of JSON lists of a mechanism's values, in order of the fields.

    It spells values as ``mechanism_pattern`` does.
    """
    return r"\[" + ",".join(_spellings(allowed).values()) + r"\]"


def _field_schema(name: str, allowed: Allowed) -> dict[str, Any]:
    if isinstance(allowed, Between):
        return {"type": "number", "minimum": allowed.low, "maximum": allowed.high}
    kind = "string" if name in CHOICES else "number" if name in RANGES else "boolean"
    if kind == "boolean" and len(allowed) > 1:
        return {"type": kind}
    return {"type": kind, "enum": list(allowed)}


def _spellings(allowed: Mapping[str, Allowed] | None) -> dict[str, str]:
    """Return a pattern of the values of each field as compact JSON, numbers in hundredths."""
    patterns = {}
    for name, field in mechanism_schema(allowed)["properties"].items():
        texts = (re.escape(json.dumps(value)) for value in _values(field))
        patterns[name] = f"({'|'.join(texts)})"
    return patterns


def _values(field: dict[str, Any]) -> list[Any]:
    """Return the values that a field's schema allows, numbers in hundredths."""
    if "enum" in field or field["type"] == "boolean":
        return list(field.get("enum", (False, True)))
    low, high = field["minimum"], field["maximum"]
    hundredths = range(math.floor(100 * low), math.ceil(100 * high) + 1)
    return sorted({low, high, *(each / 100 for each in hundredths if low <= each / 100 <= high)})
