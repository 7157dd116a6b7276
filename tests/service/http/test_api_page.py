"""The API's own page tells all of the API."""

from __future__ import annotations


def test_the_page_has_every_endpoint_with_what_it_takes(reach) -> None:
    server = reach()
    page, described = server.get("/docs").text, server.get("/openapi.json").json()
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            assert f"<code>{method.upper()} {path}</code>" in page
            assert operation["summary"] in page
    for name in ("session_id", "mechanism", "population_proxies", "csv"):
        assert f"<code>{name}</code>" in page
    assert "<script" not in page
