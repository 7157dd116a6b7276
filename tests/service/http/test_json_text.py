"""Texts that cannot be read as JSON: the reason and the place are named."""

from __future__ import annotations

import pytest

from daedalus.service.http.json_text import json_problem


@pytest.mark.parametrize(
    "text", ["{}", "NaN", '"\\ud83d\\ude00"', "9" * 4000, "[" * 199 + "]" * 199, b'"\xc3\xa9"']
)
def test_a_readable_text_has_no_problem(text: str | bytes) -> None:
    assert json_problem(text) is None


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"seed": 1,\n "n_agents": 8,,}', "key must be a string at line 2 column 16"),
        ("9" * 5000, "number out of range at line 1 column 4302"),
        ("[" * 60_000, "recursion limit exceeded at line 1 column 202"),
        ('{"\\udc00": 1}', "lone leading surrogate in hex escape at line 1 column 8"),
        (b'{"seed": "\xff"}', "invalid unicode code point at line 1 column 11"),
    ],
)
def test_an_unreadable_text_gets_the_reason_and_the_place(text: str | bytes, problem: str) -> None:
    assert json_problem(text) == problem
