"""Checks of settings that several packages share."""

from __future__ import annotations

import difflib
import math
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import Field, field, fields, is_dataclass
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

HUB_NAME = re.compile(r"([\w-][\w.-]*/)?[\w-][\w.-]*")
"""The name of a model on the hub, with or without its owner."""


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


@contextmanager
def naming(setting: str) -> Iterator[None]:
    """Put a setting's name before what the block says of its value."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{setting}: {error}") from error


class Checked:
    """A dataclass of settings, some of whose fields have a bound: those made by ``bounded``.

    None is allowed where the field's type has it, and fields of integers take whole numbers alone.
    A subclass keeps the bounds of its fields, also of those to which it gives another default.

    Raises:
        ValueError: A field is out of its bound.
    """

    def __post_init__(self) -> None:
        kinds = filter(is_dataclass, type(self).__mro__)
        for each in chain.from_iterable(map(fields, kinds)):
            value = getattr(self, each.name)
            if "holds" in each.metadata and (hint := _hint(each, value)):
                raise ValueError(f"{each.name}: {value!r}; {hint}")


def _hint(each: Field[Any], value: Any) -> str:
    """Return what to write instead of a field's value, or nothing if the value is allowed."""
    hint = str(each.metadata["hint"])
    if value is None:
        return "" if "None" in str(each.type) else hint
    if not each.metadata["holds"](value):
        return hint
    fraction = str(each.type).split()[0] == "int" and value % 1 != 0
    whole = hint if "an integer" in hint else "give an integer"
    return whole if fraction else ""


def bounded(default: object, holds: Callable[[Any], object], hint: str) -> Any:
    """Return a field of a ``Checked`` dataclass.

    Args:
        default: The field's default.
        holds: Whether a value is allowed.
        hint: What to write instead of a value that is not, the end of the message.
    """
    return field(default=default, metadata={"holds": holds, "hint": hint})


def at_least(least: float, default: float | None, number: str = "a finite number") -> Any:
    """Return a field of numbers from ``least`` up; ``number`` says what they are."""
    hint = f"give {number} from {least} up"
    return bounded(default, lambda value: least <= value < math.inf, hint)


def above(limit: float, default: float | None) -> Any:
    """Return a field of finite numbers above ``limit``."""
    hint = f"give a finite number above {limit}"
    return bounded(default, lambda value: limit < value < math.inf, hint)


def within(least: float, most: float, default: float | None, number: str = "a number") -> Any:
    """Return a field of numbers from ``least`` to ``most``."""
    hint = f"give {number} from {least} to {most}"
    return bounded(default, lambda value: least <= value <= most, hint)


def below_one(default: float) -> Any:
    """Return a field of numbers from 0 to below 1."""
    return bounded(default, lambda value: 0 <= value < 1, "give a number in [0, 1)")


def one_of(known: Sequence[str], default: str) -> Any:
    """Return a field of words from ``known``."""
    return bounded(default, lambda value: value in known, f"choose one of {', '.join(known)}")


def imported(place: str) -> object:
    """Return what a module has under a name, for settings that name code of the user.

    The module is installed, or it lies in the current folder.

    Args:
        place: ``MODULE.NAME``; the module may lie in a package, as in ``mine.designers.Cautious``.

    Raises:
        ValueError: There is no such module, or it has no such name.
    """
    module, _, name = place.rpartition(".")
    if not all(each.isidentifier() for each in [*module.split("."), name]):
        raise ValueError(f"{place!r}; give MODULE.NAME, such as my_module.MyClass")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # last, so that no file here stands in for a library
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there and imports another one, which is not
        raise ValueError(
            f"{place!r}; there is no module {error.name} in {here} or among what is installed"
        ) from error
    if not hasattr(found, name):
        own = [key for key, each in vars(found).items() if _is_of(each, module)]
        nearest = difflib.get_close_matches(name, own, n=1) or own
        raise ValueError(
            f"{place!r}; the module {module} has no {name}, but {', '.join(nearest) or 'nothing'}"
        )
    return getattr(found, name)


def _is_of(value: object, module: str) -> bool:
    return getattr(value, "__module__", None) == module


def folder_or_hub_name(
    *files: str, other: Callable[[str], object] = lambda _: None, or_else: str = ""
) -> Any:
    """Return a field of texts: a folder that has one of ``files``, a name on the hub, or empty.

    Args:
        files: Names of files.
        other: Whether another text is allowed; None if the rule above decides.
        or_else: What these others are, the end of the message.
    """

    def holds(value: str) -> object:
        allowed = other(value)
        if allowed is not None:
            return allowed
        if Path(value).exists():
            return not value or any((Path(value) / file).is_file() for file in files)
        return HUB_NAME.fullmatch(value)

    known = " or ".join(files)
    hint = f"give a folder with {known}, such as a run's `model`, or a name on the hub{or_else}"
    return bounded("", holds, hint)
