"""Errors of an episode, and of a service that is full."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

_LONGEST_VALUE = 200  # characters that an answer repeats


class FieldError(ValueError):
    """A field has a value that is not allowed; the message names field, value and what is."""

    def __init__(self, field: str, value: object, allowed: str) -> None:
        """Make the message, and keep its parts."""
        super().__init__(f"{field}: {shown(value)!r} is not allowed; {allowed}")
        self.field = field
        self.value = value
        self.allowed = allowed


class EpisodeError(RuntimeError):
    """A request that needs an episode, without one."""


class UnansweredError(RuntimeError):
    """A step needs answers of a model; once it has been asked, the step can be played."""

    def __init__(self, ask: Callable[[], Awaitable[None]]) -> None:
        """Keep what asks the model, which may raise ``BiddersError``."""
        super().__init__("a language model has to be asked first; use step_async")
        self.ask = ask


class BiddersError(RuntimeError):
    """A model that bids gave no answers; the message says why, in words for a visitor."""


class UnrecordedError(BiddersError):
    """Recorded answers of bidders do not allow the mechanism of a step."""


class CapacityError(RuntimeError):
    """All places are taken; ``retry_after`` has the seconds after which to try again."""

    def __init__(self, message: str, retry_after: float) -> None:
        super().__init__(message)
        self.retry_after = retry_after


def bounded(text: str, most: int) -> str:
    """Return a foreign text as answers repeat it: bounded, in characters that travel."""
    safe = text[:most].encode("utf-8", "replace").decode()
    left = len(text) - most
    return safe if left <= 0 else f"{safe}\n… and {left} more characters"


def shown(value: object) -> Any:
    """Return a value in a form that fits into an answer: short, finite, in valid characters."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, int):
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, dict | list):
        return f"a JSON {'object' if isinstance(value, dict) else 'array'}"
    text = str(value).encode("ascii", "backslashreplace").decode()
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."
