"""Checks of numeric settings that several packages share."""

from __future__ import annotations

import math


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
