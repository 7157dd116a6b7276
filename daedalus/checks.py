"""Checks of settings that several packages share."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import Any

_HUB_NAME = re.compile(r"([\w-][\w.-]*/)?[\w-][\w.-]*")


class CannotRunError(ValueError):
    """The run needs something that is not here. The message says what to change."""


@contextmanager
def doing(what: str) -> Iterator[None]:
    """Name what failed if the block fails: ``what`` becomes part of the sentence."""
    try:
        yield
    except Exception as error:
        error.add_note(what)
        raise


class Checked:
    """A dataclass of settings, some of whose fields have a bound: those made by ``bounded``.

    A subclass keeps the bounds of its fields, also of those to which it gives another default.

    Raises:
        ValueError: A field is out of its bound.
    """

    def __post_init__(self) -> None:
        kinds = filter(is_dataclass, type(self).__mro__)
        for each in chain.from_iterable(map(fields, kinds)):
            value = getattr(self, each.name)
            if "holds" in each.metadata and not each.metadata["holds"](value):
                raise ValueError(f"{each.name}: {value!r}; {each.metadata['hint']}")


def bounded(default: object, holds: Callable[[Any], object], hint: str) -> Any:
    """Return a field of a ``Checked`` dataclass.

    Args:
        default: The field's default.
        holds: Whether a value is allowed.
        hint: What to write instead of a value that is not, the end of the message.
    """
    return field(default=default, metadata={"holds": holds, "hint": hint})


def at_least(least: float, default: float | None, number: str = "a finite number") -> Any:
    """Return a field of numbers from ``least`` up, or None; ``number`` says what they are."""
    hint = f"give {number} from {least} up"
    return _number(default, lambda value: least <= value < math.inf, hint)


def above(limit: float, default: float | None) -> Any:
    """Return a field of finite numbers above ``limit``, or None."""
    hint = f"give a finite number above {limit}"
    return _number(default, lambda value: limit < value < math.inf, hint)


def within(least: float, most: float, default: float | None, number: str = "a number") -> Any:
    """Return a field of numbers from ``least`` to ``most``, or None."""
    hint = f"give {number} from {least} to {most}"
    return _number(default, lambda value: least <= value <= most, hint)


def _number(default: float | None, holds: Callable[[float], bool], hint: str) -> Any:
    return bounded(default, lambda value: value is None or holds(value), hint)


def one_of(known: Sequence[str], default: str) -> Any:
    """Return a field of words from ``known``."""
    return bounded(default, lambda value: value in known, f"choose one of {', '.join(known)}")


def folder_or_hub_name(*files: str) -> Any:
    """Return a field of texts: a folder that has one of ``files``, a name on the hub, or empty."""

    def holds(value: str) -> bool:
        if Path(value).exists():
            return not value or any((Path(value) / file).is_file() for file in files)
        return _HUB_NAME.fullmatch(value) is not None

    known = " or ".join(files)
    hint = f"give a folder with {known}, such as a run's `model`, or a name on the hub"
    return bounded("", holds, hint)
