"""Names and values in words, for tables and figures."""

from __future__ import annotations


def readable(value: object) -> str:
    """Return a value in words: ``informed_greedy`` is ``informed greedy``, and True is ``yes``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("_", " ")
