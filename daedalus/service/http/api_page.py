"""The API as a web page without scripts: every endpoint, what it takes and what it answers."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.responses import HTMLResponse

from daedalus.service.http.page_routes import OWN_PARTS
from daedalus.service.page.article import plain_page

_LONGEST = 240  # characters of a list of choices


def add_api_page(app: FastAPI) -> None:
    """Serve the page at /docs."""

    @app.get("/docs", tags=["Page"], response_class=HTMLResponse, summary="Read about the API")
    async def docs() -> HTMLResponse:
        return HTMLResponse(api_page(app.openapi()), headers=OWN_PARTS)


def api_page(openapi: dict[str, Any]) -> str:
    """Return the page of an OpenAPI document."""
    told = escape(openapi["info"].get("description", ""))
    parts = [
        f"<h1>The API</h1><p>{told}</p><p>For programs: "
        '<a href="/openapi.json">/openapi.json</a>. The WebSocket is <code>/ws</code>.</p>'
    ]
    for path, operations in sorted(openapi["paths"].items()):
        for method, operation in operations.items():
            parts.append(_operation(f"{method.upper()} {path}", operation, openapi))
    return plain_page("API", f"<main>{''.join(parts)}</main>")


def _operation(name: str, operation: dict[str, Any], openapi: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code></td><td>{escape(kind)}</td>"
        f"<td>{escape(meaning)}</td></tr>"
        for field, kind, meaning in inputs_of(operation, openapi)
    )
    head = "<thead><tr><th>takes</th><th>kind</th><th>meaning</th></tr></thead>"
    answers = "; ".join(
        f"{status} {answer.get('description', '')}"
        for status, answer in sorted(operation["responses"].items())
    )
    table = f"<table>{head}<tbody>{rows}</tbody></table>" if rows else ""
    return (
        f"<h2><code>{escape(name)}</code></h2><p>{escape(operation.get('summary', ''))}.</p>"
        f"{table}<p>Answers: {escape(answers)}.</p>"
    )


def inputs_of(operation: dict[str, Any], openapi: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the name, the kind and the meaning of every parameter and every field of the body."""
    for each in operation.get("parameters", []):
        yield each["name"], _kind(each["schema"]), each.get("description", "")
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    for name, field in _resolved(schema, openapi).get("properties", {}).items():
        meaning = field.get("description") or _resolved(field, openapi).get("description", "")
        yield name, _kind(field), meaning.partition("\n\n")[0]


def _kind(schema: dict[str, Any]) -> str:
    """Return what a value may be, in words."""
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        choices = ", ".join(map(str, schema["enum"]))
        return choices if len(choices) <= _LONGEST else f"{choices[:_LONGEST]} ..."
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    low, high = schema.get("minimum"), schema.get("maximum")
    ends = f", {low} to {high}" if low is not None and high is not None else ""
    return f"{schema.get('const', schema.get('type', 'any'))}{ends}"


def _resolved(schema: dict[str, Any], openapi: dict[str, Any]) -> dict[str, Any]:
    for part in schema.get("$ref", "#").split("/")[1:]:
        openapi = openapi[part]
    return openapi if "$ref" in schema else schema
