"""Checks of settings that several packages share."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

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


def require_at_least(least: float, settings: object, *names: str) -> None:
    """Check numbers of a settings object.

    Args:
        least: Lowest number that is allowed.
        settings: Object whose attributes are checked.
        *names: Names of the attributes.

    Raises:
        ValueError: A named attribute is below ``least`` or not finite.
    """
    for name in names:
        value = getattr(settings, name)
        if not least <= value < math.inf:
            raise ValueError(f"{name}: {value}; give a finite number from {least} up")


def require_above(limit: float, settings: object, *names: str) -> None:
    """Check numbers of a settings object.

    Args:
        limit: The numbers must be above it.
        settings: Object whose attributes are checked.
        *names: Names of the attributes.

    Raises:
        ValueError: A named attribute is not above ``limit`` or not finite.
    """
    for name in names:
        if not limit < getattr(settings, name) < math.inf:
            value = getattr(settings, name)
            raise ValueError(f"{name}: {value}; give a finite number above {limit}")


def require_share(settings: object, *names: str) -> None:
    """Check shares or probabilities of a settings object.

    Args:
        settings: Object whose attributes are checked.
        *names: Names of the attributes.

    Raises:
        ValueError: A named attribute is not from 0 to 1.
    """
    for name in names:
        if not 0 <= getattr(settings, name) <= 1:
            raise ValueError(f"{name}: {getattr(settings, name)}; give a number from 0 to 1")


def require_folder_or_hub_name(settings: object, name: str, *files: str) -> None:
    """Check a text of a settings object that names a folder or, if there is none, is a hub name.

    Args:
        settings: Object whose attribute is checked. An empty text is allowed.
        name: Name of the attribute.
        *files: The folder must have one of these files.

    Raises:
        ValueError: The folder has no such file, or the text cannot be a name on the hub.
    """
    value = getattr(settings, name)
    if Path(value).exists():
        known = any((Path(value) / file).is_file() for file in files)
    else:
        known = _HUB_NAME.fullmatch(value) is not None
    if value and not known:
        raise ValueError(
            f"{name}: {value!r}; give a folder with {' or '.join(files)}, such as a run's `model`, "
            "or a name on the hub"
        )


def require_one_of(known: Sequence[str], settings: object, name: str) -> None:
    """Check a word of a settings object.

    Args:
        known: Words that are allowed.
        settings: Object whose attribute is checked.
        name: Name of the attribute.

    Raises:
        ValueError: The attribute is not one of ``known``.
    """
    value = getattr(settings, name)
    if value not in known:
        raise ValueError(f"{name}: {value!r}; choose one of {', '.join(known)}")
