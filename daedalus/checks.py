"""Checks of settings that several packages share."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager


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
