"""A strict parser from text to mechanism. Errors are part of its result; it never raises."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from daedalus.market.mechanism import FIELDS, Mechanism, MechanismError, checked_field

MAX_TEXT = 20_000
"""Longest text that is read, in characters; a mechanism takes about 350."""


@dataclass(frozen=True)
class ParsedMechanism:
    """The mechanism in a text, or the errors.

    Attributes:
        mechanism: The mechanism, or None if there was any error.
        errors: One sentence for each field with an error; ``json`` stands for the whole text.
        fields_valid: Share of the eleven fields that are present and valid, 0 to 1.
    """

    mechanism: Mechanism | None
    errors: dict[str, str] = field(default_factory=dict)
    fields_valid: float = 0.0

    @property
    def valid(self) -> bool:
        """Return whether the text is one complete mechanism and nothing else."""
        return self.mechanism is not None


def parse_mechanism(text: str) -> ParsedMechanism:
    """Read a mechanism from ``text``, which must be one JSON object with all eleven fields.

    White space around the object is allowed. Other text and code fences are errors. So are a
    missing, repeated or unknown field, a wrong type, NaN and a value out of range.

    Returns:
        The mechanism, or the reasons why there is none.
    """
    data = _read_object(text)
    if isinstance(data, str):
        return ParsedMechanism(None, {"json": data})
    errors = {name: "missing" for name in FIELDS if name not in data}
    for name, value in data.items():
        try:
            checked_field(name, value)
        except MechanismError as error:
            errors[name] = str(error)
    valid_share = sum(name not in errors for name in FIELDS) / len(FIELDS)
    mechanism = None if errors else Mechanism(**data)  # type: ignore[arg-type]  # checked
    return ParsedMechanism(mechanism, errors, valid_share)


def format_mechanism(mechanism: Mechanism) -> str:
    """Write a mechanism as the compact JSON object that ``parse_mechanism`` reads."""
    return json.dumps(mechanism.to_dict(), separators=(",", ":"))


def _read_object(text: str) -> dict[str, object] | str:
    """Return the object, or the reason why there is none."""
    if len(text) > MAX_TEXT:
        return f"{len(text)} characters; a mechanism has at most {MAX_TEXT}"
    try:
        data = json.loads(text, object_pairs_hook=_unique_keys)
    except RecursionError:
        return "nested too deeply"
    except ValueError as error:  # JSONDecodeError, or a repeated key, see below
        return f"not one JSON object: {error}"
    return data if isinstance(data, dict) else f"a JSON {type(data).__name__}, not an object"


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{repeated} appears twice")
    return data
