"""What an episode refuses."""

from __future__ import annotations

import math
from typing import Any

_LONGEST_VALUE = 200  # characters of it that are sent back


class FieldError(ValueError):
    """A field's value cannot be used here; the message names field, value and what is allowed."""

    def __init__(self, field: str, value: object, allowed: str) -> None:
        """Keep the parts beside the sentence."""
        super().__init__(f"{field}: {shown(value)!r} is not allowed; {allowed}")
        self.field = field
        self.value = value
        self.allowed = allowed


class EpisodeError(RuntimeError):
    """A step or a look without an episode."""


def shown(value: object) -> Any:
    """Return a value as an answer can carry it: short, finite and in valid characters."""
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
