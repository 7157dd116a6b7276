"""Generated requests: none breaks the service, and none makes it open a file or an address."""

from __future__ import annotations

import copy
import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import schemathesis
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode
from schemathesis.python import asgi
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import response_schema_conformance
from starlette.testclient import TestClient

from daedalus.market.mechanism import Mechanism
from daedalus.service.http.app import create_app
from daedalus.service.settings import ServiceSettings
from tests.service.conftest import JSON_BODY
from tests.service.generated import JSON, seeded

ANYWHERE = {400, 403, 405, 409, 413}  # documented for every endpoint
OPERATION_EXAMPLES = 25
MANY_BODIES = int(os.environ.get("FUZZ_BODIES", "400"))
"""How many malformed bodies the slow test sends; ``FUZZ_BODIES=10000`` sends more."""


@pytest.fixture(scope="module")
def app(catalogue: Any, tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    folder = tmp_path_factory.mktemp("host")
    (folder / "blog.md").write_text("# Blog")
    files = {"outputs": str(folder), "write_up": f"{folder}/blog.md"}
    chosen = ServiceSettings(http_sessions=4, hosts=["testserver"], **files)
    return create_app(chosen, catalogue, None)


@pytest.fixture(scope="module")
def client(app: FastAPI) -> Iterator[TestClient]:
    with TestClient(app, raise_server_exceptions=False) as reached:
        reached.post("/reset", json={"session_id": "a"})
        yield reached


def fuzz_operations(app: FastAPI, examples: int) -> int:
    """Ask every operation of our own document with data that fits it, and with data that does not.

    Returns:
        How many requests were sent.
    """
    sent = 0
    for operation in schemathesis.openapi.from_asgi("/openapi.json", app).get_all_operations():
        for mode in GenerationMode if can_be_wrong(operation.ok()) else [GenerationMode.POSITIVE]:

            @seeded(examples)
            @given(case=operation.ok().as_strategy(mode))
            def every(case: Case) -> None:
                nonlocal sent
                sent += 1
                check_documented(case, case.call(session=session))

            # Nothing is wrong where nothing is asked for.
            with suppress(Unsatisfiable), asgi.get_client(app) as session:
                every()
    return sent


def can_be_wrong(operation: APIOperation) -> bool:
    """Return whether any data does not fit: no text of a path, and to look for one takes long."""
    asked = operation.definition.raw
    parameters = asked.get("parameters", [])
    texts = [each["in"] == "path" and each["schema"]["type"] == "string" for each in parameters]
    return "requestBody" in asked or not all(texts)


def check_documented(case: Case, answer: Any) -> None:
    documented = {int(status) for status in case.operation.definition.raw["responses"]}
    assert answer.status_code in documented | ANYWHERE, (answer.status_code, answer.text)
    assert answer.status_code < 500 or "retry-after" in answer.headers
    assert "Traceback" not in answer.text
    case.validate_response(answer, checks=[response_schema_conformance])


ODD = ["", "{", "[" * 20_000, "9" * 5000, '"\\ud800"', '{"seed": 1e999}', "NaN"]
TEMPLATES: dict[str, dict[str, Any]] = {
    "/reset": {"session_id": "a", "seed": 1, "population": "stage4", "n_agents": 9},
    "/step": {"session_id": "a", "action": Mechanism().to_dict()},
    "/api/design": {
        "round_number": 1,
        "market_outcomes": [{"welfare": 0.5, "gini": 0.1}],
        "population_proxies": {"bid_mean": 0.4},
        "mechanism": Mechanism().to_dict(),
        "designer": "trained",
    },
    "/fork": {
        "session_id": "a",
        "mechanisms": [Mechanism().to_dict(), {"reserve_price": 0.3}],
        "futures": 2,
        "horizon": 1,
        "seed": 5,
    },
    "/api/bids": {"csv": "auction,bid\n1,2\n", "format": "ascending"},
    "/mcp": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x"}},
}


@st.composite
def malformed(draw: st.DrawFn) -> tuple[str, bytes]:
    """Return a path and a body: any JSON, a valid one with a wrong place, or one cut to pieces."""
    path, body = draw(st.sampled_from(list(TEMPLATES.items())))
    kind = draw(st.integers(0, 2))
    if kind == 0:
        return path, draw(JSON.map(json.dumps) | st.sampled_from(ODD)).encode()
    if kind == 1:
        place = draw(st.sampled_from(list(places(body))))
        return path, json.dumps(put(body, place, draw(JSON))).encode()
    whole, junk = json.dumps(body).encode(), draw(st.binary(max_size=6))
    begin, gone = draw(st.integers(0, len(whole) - 1)), draw(st.integers(0, 9))
    return path, whole[:begin] + junk + whole[begin + gone :]


def places(body: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the way to every field of a body, and to every object or list around them."""
    entries = body.items() if isinstance(body, dict) else enumerate(body)
    for name, value in entries:
        yield (*above, name)
        if isinstance(value, dict | list):
            yield from places(value, (*above, name))


def put(body: Any, place: tuple[Any, ...], value: Any) -> Any:
    """Return a copy of a body with another value in one place."""
    changed = copy.deepcopy(body)
    inner = changed
    for name in place[:-1]:
        inner = inner[name]
    inner[place[-1]] = value
    return changed


def fuzz_bodies(client: TestClient, examples: int) -> int:
    """Send malformed bodies, and return how many."""
    sent = 0

    @seeded(examples)
    @given(request=malformed())
    def every(request: tuple[str, bytes]) -> None:
        nonlocal sent
        sent += 1
        answer = client.post(request[0], content=request[1], headers=JSON_BODY)
        assert answer.status_code in {200, 404, 422} | ANYWHERE or "Retry-After" in answer.headers
        if answer.status_code != 200:
            assert set(answer.json()) == {"error", "detail"}
        assert "Traceback" not in answer.text

    every()
    return sent


@pytest.mark.slow
def test_thousands_of_requests_do_not_break_it(
    app: FastAPI, client: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    assert fuzz_operations(app, OPERATION_EXAMPLES) > 400
    assert fuzz_bodies(client, MANY_BODIES) == MANY_BODIES
    assert not [record for record in caplog.records if record.exc_info]
    assert client.post("/step", json={"session_id": "a", "action": {}}).status_code == 200


NAMED = ("/etc/passwd", "../../../../etc/passwd", "file:///etc/passwd", "http://127.0.0.1:1/x")
REACHING = {"open", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.system"}
REACHING |= {"os.listdir", "os.scandir", "os.exec", "os.posix_spawn", "import"}
_heard: list[str] | None = None


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if _heard is not None and event in REACHING:
        _heard.append(f"{event} {arguments[:2]}")


@contextmanager
def listening() -> Iterator[list[str]]:
    """Gather what the interpreter reaches for."""
    global _heard
    if not getattr(sys, "_daedalus_listens", False):
        sys.addaudithook(_hear)  # for the rest of the process; there is no way to remove one
        sys._daedalus_listens = True  # type: ignore[attr-defined]
    _heard = heard = []
    yield heard
    _heard = None


def naming_requests(openapi: dict[str, Any], name: str) -> Iterator[tuple[str, str, Any]]:
    """Yield requests that give a name for every parameter and every field of the document."""
    for path, operations in openapi["paths"].items():
        for method, operation in operations.items():
            for parameter in operation.get("parameters", []):
                filled = path.replace("{" + parameter["name"] + "}", quote(name, safe=""))
                yield method, f"{filled}?{parameter['name']}={quote(name)}", None
            if "requestBody" in operation:
                schema = operation["requestBody"]["content"]["application/json"]["schema"]
                whole = example(schema, openapi)
                for place in places(whole):
                    yield method, path, put(whole, place, name)
                yield method, path, {"checkpoint": name, "model": name, "path": name}


def example(schema: dict[str, Any], openapi: dict[str, Any]) -> Any:
    """Return a body with every field that a schema has."""
    for option in schema.get("anyOf", [])[:1]:
        return example(option, openapi)
    if "$ref" in schema:
        return example(openapi["components"]["schemas"][schema["$ref"].split("/")[-1]], openapi)
    if "properties" in schema:
        return {name: example(each, openapi) for name, each in schema["properties"].items()}
    if schema.get("type") == "array":
        return [example(schema["items"], openapi)]
    chosen = {"integer": 9, "number": 0.1, "boolean": False, "string": "a"}
    return schema.get("enum", [schema.get("default", chosen.get(schema.get("type", ""), {}))])[0]


@pytest.mark.slow
def test_no_request_opens_what_it_names(client: TestClient) -> None:
    openapi = client.get("/openapi.json").json()
    asked = 0
    for name in NAMED:
        for method, path, body in naming_requests(openapi, name):
            with listening() as heard:
                answer = client.request(method, path, json=body)
            asked += 1
            assert answer.status_code < 500 or "Retry-After" in answer.headers
            assert not [each for each in heard if "passwd" in each or "127.0.0.1" in each], heard
            assert not [each for each in heard if each.startswith(("sub", "os.s", "socket"))], heard
    assert asked > 200


def test_the_check_hears_what_is_opened(tmp_path: Path) -> None:
    (tmp_path / "passwd").touch()
    with listening() as heard:
        (tmp_path / "passwd").read_text()
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", 1), timeout=1)
    assert any("passwd" in each for each in heard)
    assert any("socket.connect" in each for each in heard)


UP = ["../", "..%2f", "%2e%2e/", "%2e%2e%2f", "..\\", "..%5c", "%252e%252e%252f", "..;/", "....//"]
UP += ["%c0%ae%c0%ae/", "..%00/", "./../", "//", "%2f", "/%2e%2e/"]
WANTED = ["tour.py", "server.py", "etc/passwd", "index.html%00.py", "secret"]


@pytest.mark.parametrize("folder", ["/page/", "/plots/", "/read/figures/", "/", "/read/"])
def test_paths_lead_nowhere_else(address: str, folder: str) -> None:
    connection = HTTPConnection(urlsplit(address).netloc)
    for up in UP:
        for path in (f"{folder}{up * count}{wanted}" for count in (1, 8) for wanted in WANTED):
            connection.request("GET", path)  # as it is written
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status in (400, 404), (path, body[:300])
            assert b"root:" not in body and b"import" not in body
    connection.close()
