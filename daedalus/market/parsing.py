"""A parser from text to mechanism. Errors are part of its result; it never raises."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from daedalus.market.goal import ANYTHING, Goal
from daedalus.market.mechanism import FIELDS, Mechanism, MechanismError, shown

MAX_TEXT = 20_000
"""Most characters of an object, and of the whole text if ``strict``. A mechanism takes 350."""

_TEXT = "json"  # key of an error of the whole text
_MISSING = "missing"
_MOST_ERRORS = 5  # of one answer, in its reason
_MOST_BROKEN = 50
_QUOTED = 40  # characters of the place that is not JSON
_CUT_OFF = "cut off: no brace closes the object; allow more tokens"
_SPACE = " \t\n\r"  # white space of JSON
_OBJECT = re.compile(r'\{(?=\s*["}])')  # where an object may begin


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
        """Return whether the text holds one complete mechanism."""
        return self.mechanism is not None

    @property
    def reason(self) -> str:
        """Return why there is no mechanism, in a line of bounded length; empty if there is one."""
        missing = [name for name, error in self.errors.items() if error == _MISSING]
        found = [f"missing fields: {', '.join(missing)}"] if missing else []
        found += [error for error in self.errors.values() if error != _MISSING]
        more = len(found) - _MOST_ERRORS
        return "; ".join(found[:_MOST_ERRORS] + ([f"and {more} more errors"] if more > 0 else []))

    @property
    def kind(self) -> str:
        """Return the first part of the reason, without values: one of about twenty."""
        return self.reason.partition(":")[0]


class RepeatedKeyError(ValueError):
    """A JSON object has a key twice. The message names it and both values."""


class _RefusedError(Exception):
    """A text has not one readable object. The message begins with its kind and a colon."""


def parse_mechanism(text: str, strict: bool = True, goal: Goal = ANYTHING) -> ParsedMechanism:
    """Read a mechanism from ``text``, which holds one JSON object with all eleven fields.

    A missing, repeated or unknown field, a wrong type, NaN and a value out of range are errors. So
    is a second object. The time is linear in the length of the text.

    Args:
        text: What a designer wrote.
        strict: Whether anything but white space beside the object is an error. If not, the object
            may stand in a code fence or between other words.
        goal: A value that it does not allow is an error, as one out of range is.
    """
    try:
        data = _read_object(text, strict)
    except _RefusedError as refusal:
        return no_mechanism(str(refusal))
    errors = {name: _MISSING for name in FIELDS if name not in data}
    for name, value in data.items():
        if name not in FIELDS:
            errors[name] = f"unknown field: {shown(name)}; the fields are {', '.join(FIELDS)}"
            continue
        try:
            goal.check_value(name, value)
        except MechanismError as error:
            errors[name] = str(error)
    valid_share = sum(name not in errors for name in FIELDS) / len(FIELDS)
    mechanism = None if errors else Mechanism(**data)  # type: ignore[arg-type]  # checked
    return ParsedMechanism(mechanism, errors, valid_share)


def no_mechanism(reason: str) -> ParsedMechanism:
    """Return that a text holds no mechanism, for a reason that begins with its kind and a colon."""
    return ParsedMechanism(None, {_TEXT: reason})


def format_mechanism(mechanism: Mechanism) -> str:
    """Write a mechanism as the compact JSON object that ``parse_mechanism`` reads."""
    return json.dumps(mechanism.to_dict(), separators=(",", ":"))


def unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the object of a JSON decoder's pairs, which would silently drop a repeated key.

    Raises:
        RepeatedKeyError: A key stands twice.
    """
    data: dict[str, object] = {}
    for name, value in pairs:
        if name in data:
            twice = f"{shown(name)} appears twice, as {shown(data[name])} and {shown(value)}"
            raise RepeatedKeyError(twice)
        data[name] = value
    return data


def _read_object(text: str, strict: bool) -> dict[str, object]:
    """Return the one object in a text."""
    if strict and len(text) > MAX_TEXT:
        raise _RefusedError(f"too long: {len(text)} characters; write at most {MAX_TEXT}")
    data, start, end = _only_object(text)
    before, after = text[:start].rstrip(), text[end:].lstrip()
    if end - start > MAX_TEXT:
        raise _RefusedError(f"too long: {end - start} characters; write at most {MAX_TEXT}")
    if before[-1:] in ("[", "{") or after[:1] in ("]", "}"):
        raise _RefusedError("in brackets: the object stands inside others; write it alone")
    if strict and (text[:start] + text[end:]).strip(_SPACE):
        raise _RefusedError("other text: strict=true allows one JSON object and nothing else")
    return data


def _only_object(text: str) -> tuple[dict[str, object], int, int]:
    """Return the only object of a text, where it begins and where it ends.

    What begins like an object and is not JSON counts as other text, unless nothing closes it. After
    ``_MOST_BROKEN`` such places the text is refused, because the decoder counts the lines before
    each.
    """
    found, wrong, position, broken = None, None, 0, 0
    last_brace, length = text.rfind("}"), len(text.rstrip())
    while begin := _OBJECT.search(text, position):
        try:
            data, position = _DECODER.raw_decode(text, begin.start())
        except json.JSONDecodeError as error:
            if begin.start() > last_brace or error.pos >= length:
                raise _RefusedError(_CUT_OFF) from None
            wrong, position, broken = error, error.pos, broken + 1  # beyond the brace
            if broken > _MOST_BROKEN:
                break
            continue
        except RecursionError:
            raise _RefusedError("nested too deeply") from None
        except RepeatedKeyError as error:
            raise _RefusedError(f"repeated field: {error}") from None
        except ValueError:
            raise _RefusedError("not JSON: a number has thousands of digits") from None
        if found:
            raise _RefusedError("several objects: more than one JSON object; write only one")
        found = data, begin.start(), position
    if found is None or broken > _MOST_BROKEN:
        raise _RefusedError(_none_in(text, wrong))
    return found


def _none_in(text: str, wrong: json.JSONDecodeError | None) -> str:
    """Return why there is no object in a text, of which ``wrong`` begins like one."""
    if wrong is not None:
        return f"not JSON: {wrong.msg}, at {shown(text[wrong.pos : wrong.pos + _QUOTED])}"
    if not text.strip():
        return "empty: the answer has no text"
    brace = text.find("{")
    if brace < 0:
        return f"no object: the answer has no JSON object; it begins {shown(text[:_QUOTED])}"
    if not text[brace + 1 :].strip():
        return _CUT_OFF
    return f"not JSON: no name in double quotes, at {shown(text[brace : brace + _QUOTED])}"


_DECODER = json.JSONDecoder(object_pairs_hook=unique_keys)
