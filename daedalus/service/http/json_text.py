"""Texts that a JSON reader refuses, and the place where they fail."""

from __future__ import annotations

from pydantic_core import from_json


def json_problem(text: str | bytes) -> str | None:
    """Return why a text cannot be read as JSON, and where; None if it can be read.

    Beside the grammar this bounds the depth (200 arrays or objects) and the length of a number
    (4300 digits), and it refuses unpaired surrogates, which no answer could repeat.
    """
    try:
        from_json(text)
    except ValueError as error:
        return str(error)
    return None
