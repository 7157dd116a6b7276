"""What a seller may set: for a field of the mechanism some values, or a range of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from daedalus.market.mechanism import (
    CHOICES,
    FIELDS,
    FLAGS,
    RANGES,
    MechanismError,
    checked_field,
)


class Between(NamedTuple):
    """A closed range of a number field."""

    low: float
    high: float


Allowed = tuple[Any, ...]
"""The values of a field that may be set, or ``Between``, which is a tuple too."""

_ENDS = ("min", "max")
_LIST = "a list of values"
_RANGE = "{min: LOW, max: HIGH}"
_FORMS = f"{_LIST}, or {_RANGE}"

_FREE: dict[str, Allowed] = (
    dict(CHOICES)
    | {name: (False, True) for name in FLAGS}
    | {name: Between(*limits) for name, limits in RANGES.items()}
)


def read_allowed(written: object) -> dict[str, Allowed]:
    """Return restrictions as a goal keeps them: tuples without repeats, numbers as floats.

    Args:
        written: By field a list or tuple of values, or of a number field a range, ``Between(low,
            high)`` or ``{"min": low, "max": high}``.

    Raises:
        MechanismError: It is no such mapping, a field or a value does not exist, there is no value,
            or a range is no range. The message names the field and says what to write.
    """
    if not isinstance(written, Mapping):
        raise MechanismError("allowed", written, f"give a mapping: of each field {_FORMS}")
    try:
        return {name: _read(name, each) for name, each in written.items()}
    except MechanismError as error:
        raise _placed(error) from error


def written_allowed(allowed: Mapping[str, Allowed]) -> dict[str, Any]:
    """Return restrictions as JSON, which ``read_allowed`` reads."""
    return {
        name: dict(zip(_ENDS, each, strict=True)) if isinstance(each, Between) else list(each)
        for name, each in allowed.items()
    }


def narrowed(allowed: Mapping[str, Allowed], further: Mapping[str, Allowed]) -> dict[str, Allowed]:
    """Return restrictions with further ones, which take the place of those of the same field.

    Raises:
        MechanismError: A further one allows what is forbidden already.
    """
    try:
        for name in further.keys() & allowed.keys():
            if isinstance(further[name], Between) and not isinstance(allowed[name], Between):
                raise MechanismError(name, further[name], f"give {_LIST}; a range has others too")
            for value in further[name]:
                check_value(name, value, allowed[name])
    except MechanismError as error:
        raise _placed(error) from error
    return {**allowed, **further}


def free(name: str) -> Allowed:
    """Return what a field may be where nobody restricts it."""
    return _FREE[name]


def check_value(name: str, value: object, allowed: Allowed) -> None:
    """Refuse a value as one out of range is refused.

    Raises:
        MechanismError: The field cannot have the value, or it is not among those allowed.
    """
    given = checked_field(name, value)
    if isinstance(allowed, Between):
        if not allowed.low <= given <= allowed.high:
            raise MechanismError(name, value, f"give a number from {allowed.low} to {allowed.high}")
    elif given not in allowed:
        words = ", ".join(_written(each) for each in allowed)
        raise MechanismError(
            name, value, f"choose one of {words}" if allowed[1:] else f"write {words}"
        )


def _placed(error: MechanismError) -> MechanismError:
    """Return the error of a restriction with its full place."""
    return MechanismError(f"allowed.{error.field}", error.value, error.allowed)


def _read(name: str, written: Any) -> Allowed:
    """Return one field's restriction."""
    if name not in FIELDS:
        raise MechanismError(name, written, f"no such field; the fields are {', '.join(FIELDS)}")
    if isinstance(written, tuple | list) and not isinstance(written, Between):
        if not written:
            raise MechanismError(name, written, "give at least one value, or leave the field out")
        return tuple(dict.fromkeys(_plain(name, each) for each in written))
    low, high = (_plain(name, each) for each in _ends(name, written))
    if low > high:
        raise MechanismError(name, written, "the range ends before it begins; exchange its ends")
    return Between(low, high)


def _ends(name: str, written: object) -> Sequence[object]:
    """Return the ends of a range."""
    if not isinstance(written, Between | Mapping):
        raise MechanismError(name, written, f"give {_FORMS if name in RANGES else _LIST}")
    if name not in RANGES:
        raise MechanismError(name, written, f"a range is for numbers; give {_LIST}")
    if isinstance(written, Between):
        return written
    if {*written} != {*_ENDS}:
        raise MechanismError(name, written, f"give a range as {_RANGE}")
    return [written[end] for end in _ENDS]


def _plain(name: str, value: object) -> Any:
    stored = checked_field(name, value)
    return stored + 0.0 if name in RANGES else stored  # no negative zero


def _written(value: object) -> str:
    """Return a value as messages about mechanisms write it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
