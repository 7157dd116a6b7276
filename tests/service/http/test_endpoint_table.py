"""The documentation's table of endpoints is that of the application."""

from __future__ import annotations

from pathlib import Path

import pytest

from daedalus.service.http.endpoint_table import endpoint_table, with_table

DOCS = Path(__file__).parents[3] / "docs" / "service.md"


def test_the_documented_endpoints_are_those_served(reach) -> None:
    table = endpoint_table(reach().get("/openapi.json").json())
    assert DOCS.read_text() == with_table(DOCS.read_text(), table), (
        "docs/service.md is out of date: python -m daedalus.service.http.endpoint_table"
    )
    for path in ("GET `/`", "POST `/reset`", "POST `/step`", "GET `/state`", "POST `/api/design`"):
        assert path in table
    assert "`session_id`, `action`" in table


def test_a_document_without_the_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="write them where the table goes"):
        with_table("no marks", "| table |")
