"""The application and its address: HEAD is answered as GET is, without a body."""

from __future__ import annotations

import pytest
import requests

from daedalus.service.address import web_address
from daedalus.service.http.server import listen
from daedalus.service.settings import ServiceSettings
from tests.service.conftest import dial

PATHS = ["/", "/health", "/metadata", "/schema", "/openapi.json", "/api/catalogue", "/plots/"]
PATHS += ["/page/style.css", "/nowhere", "/reset", "/state?session_id=nobody"]


@pytest.mark.parametrize("path", PATHS)
def test_head_answers_as_get(address: str, path: str) -> None:
    head, get = requests.head(address + path), requests.get(address + path)
    assert head.status_code == get.status_code and head.content == b""
    for name in ("Content-Length", "Content-Type", "Content-Security-Policy"):
        assert head.headers.get(name) == get.headers.get(name)


def test_the_connection_goes_on_after_a_head(address: str) -> None:
    with dial(address, timeout=5) as sock:
        sock.sendall(b"HEAD /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
        first = sock.recv(10_000)
        sock.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        second = b"".join(iter(lambda: sock.recv(10_000), b""))
    assert first.startswith(b"HTTP/1.1 200") and first.endswith(b"\r\n\r\n")
    assert second.startswith(b"HTTP/1.1 200") and b"healthy" in second


def test_a_taken_port_says_what_to_do() -> None:
    with listen(ServiceSettings(port=0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ValueError, match=f"service.port {port}.*another port"):
            listen(ServiceSettings(port=port))


def test_an_address_can_be_opened_in_a_browser() -> None:
    assert web_address("127.0.0.1", 8000) == "http://127.0.0.1:8000"
    assert web_address("::1", 8000) == "http://[::1]:8000"
