"""The limits of a request: long bodies, pages of other origins, foreign names, greedy addresses."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
import requests
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from daedalus.service.http.limits import visitor_of
from daedalus.service.openenv.catalogue import Catalogue
from tests.service.conftest import dial, exchanged, open_websocket, play, serving


def test_long_bodies_are_turned_away(reach) -> None:
    client = reach(max_body_bytes=2000)
    refused = client.post("/reset", content=b" " * 2001)
    assert (refused.status_code, refused.headers["Connection"]) == (413, "close")
    assert refused.json() == {"error": "the body is longer than 2000 bytes", "detail": []}
    chunks = (b" " * 100 for _ in range(1000))
    assert client.post("/reset", content=chunks).status_code == 413
    assert client.post("/reset", json={}).status_code == 200


def test_pages_of_other_origins_may_not_act_unless_configured(reach) -> None:
    friend, stranger = {"Origin": "https://friend.example"}, {"Origin": "https://evil.example"}
    client = reach(cors_origins=["https://friend.example"], http_sessions=9)
    assert client.post("/reset", json={}, headers=stranger).status_code == 403
    assert client.post("/reset", json={}, headers={"Origin": "http://localhost:8000"}).is_success
    answer = client.post("/reset", json={}, headers=friend)
    assert answer.headers["access-control-allow-origin"] == "https://friend.example"
    asked = {"Access-Control-Request-Method": "POST"}
    asked |= {"Access-Control-Request-Headers": "content-type"}
    for path in ("/reset", "/step", "/api/design"):
        assert client.options(path, headers=friend | asked).is_success
        assert not client.options(path, headers=stranger | asked).is_success
    assert (open_websocket(client, friend), open_websocket(client, stranger)) == (101, 403)
    closed = reach().get("/health", headers=friend)
    assert "access-control-allow-origin" not in closed.headers


def test_behind_a_proxy_that_ends_https_only_the_own_page_may_act(reach) -> None:
    host = "me-daedalus.hf.space"
    client = reach(hosts=[host])
    own = {"Host": host, "Origin": f"https://{host}"}
    assert client.post("/reset", json={}, headers=own).is_success
    assert open_websocket(client, own) == 101
    for headers in (own | {"Origin": "https://evil.example"}, own | {"Host": "127.0.0.1:7860"}):
        assert client.post("/reset", json={}, headers=headers).status_code == 403
        assert open_websocket(client, headers) == 403


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("size", [70_000, 700_000, 30_000_000])
def test_a_client_that_sends_its_whole_body_first_reads_why_it_was_refused(
    address: str, size: int, chunked: bool
) -> None:
    body = b" " * size
    length = b"Transfer-Encoding: chunked" if chunked else b"Content-Length: %d" % size
    head = b"POST /reset HTTP/1.1\r\nHost: localhost\r\n" + length + b"\r\n\r\n"
    sent = b"%x\r\n%b\r\n0\r\n\r\n" % (size, body) if chunked else body
    answer = exchanged(address, head + sent)
    assert answer.startswith(b"HTTP/1.1 413") and b"longer than 65536 bytes" in answer


FOREIGN = {"Host": "evil.example:8000", "Origin": "http://evil.example:8000"}
OWN = ["localhost", "LOCALHOST:8000", "127.0.0.1:8000", "192.168.1.5", "[::1]:8000", "[fe80::1]"]
STRANGE = ["evil.example", "evil.example:8000", "localhost.evil.example", "127.0.0.1.evil.example"]
STRANGE += ["127.0.0.1@evil.example", "[evil.example]", "evil.example#localhost", "\x00", "é", ""]


def test_a_name_bound_to_this_machine_by_its_owner_gets_no_answer(address: str) -> None:
    for method, path in (
        ("POST", "/reset"),
        ("POST", "/api/design"),
        ("GET", "/api/training"),
        ("GET", "/"),
        ("GET", "/page/style.css"),
        ("GET", "/openapi.json"),
    ):
        answer = requests.request(method, address + path, headers=FOREIGN, json={})
        assert answer.status_code == 400
        assert answer.json()["error"] == (
            "Host: 'evil.example:8000' is not a name of this service; add it to service.hosts"
        )
    with (
        pytest.raises(InvalidStatus) as caught,
        connect("ws://evil.example/ws", sock=dial(address)),
    ):
        pytest.fail("the WebSocket was accepted")
    assert caught.value.response.status_code == 400
    assert "service.hosts" in json.loads(caught.value.response.body)["error"]


def test_its_own_names_and_every_address_are_served(client) -> None:
    for host in OWN:
        assert client.get("/health", headers={"Host": host}).status_code == 200, host
        assert open_websocket(client, {"Host": host}) == 101, host
    for host in STRANGE:
        assert client.get("/health", headers={"Host": host.encode()}).status_code == 400, host


def test_the_settings_add_names(reach) -> None:
    client = reach(hosts=["market.example", "*.hf.space"])
    for host, status in (
        ("market.example", 200),
        ("me-daedalus.hf.space", 200),
        ("a.market.example", 400),
        ("localhost", 400),
        ("hf.space.evil.example", 400),
    ):
        assert client.get("/health", headers={"Host": host}).status_code == status, host
    assert open_websocket(client, {"Host": "localhost"}) == 400
    assert reach(hosts=["*"]).get("/health", headers=FOREIGN).status_code == 200


PLACES = {"http_sessions": 4, "websocket_sessions": 4, "sessions_per_address": 2}


@pytest.mark.parametrize(
    ("address", "visitor"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("a socket of this machine", "a socket of this machine"),
    ],
)
def test_a_visitor_is_an_address_or_a_network_of_64_bits(address: str, visitor: str) -> None:
    assert visitor_of({"client": (address, 1)}) == visitor


def test_a_visitor_without_an_address_has_an_empty_name() -> None:
    assert visitor_of({"client": None}) == visitor_of({}) == ""


@pytest.fixture(scope="module")
def proxied(catalogue: Catalogue) -> Iterator[str]:
    with serving(catalogue, **PLACES, trusted_proxies=["127.0.0.1"]) as address:
        yield address


def by(visitor: str) -> dict[str, str]:
    return {"X-Forwarded-For": f"203.0.113.99, {visitor}"}  # a visitor can invent only the first


def begun(address: str, visitor: str, name: str) -> requests.Response:
    return play(requests, address, name, headers=by(visitor))


def test_behind_a_trusted_proxy_a_visitor_holds_only_its_own_sessions(proxied: str) -> None:
    codes = [begun(proxied, "192.0.2.1", f"greedy-{each}").status_code for each in range(4)]
    assert codes == [200, 200, 503, 503]
    refused = begun(proxied, "192.0.2.1", "greedy-4")
    assert "all 2 sessions of your address are taken" in refused.json()["error"]
    assert 1 <= int(refused.headers["Retry-After"]) <= 120
    assert begun(proxied, "192.0.2.2", "newcomer").status_code == 200
    assert begun(proxied, "2001:db8::1", "another").status_code == 200


def test_behind_a_trusted_proxy_a_visitor_holds_only_its_own_websockets(proxied: str) -> None:
    url = proxied.replace("http", "ws") + "/ws"
    with (
        connect(url, additional_headers=by("2001:db8::1")) as first,
        connect(url, additional_headers=by("2001:db8::2")),
    ):
        with pytest.raises(InvalidStatus) as caught:
            connect(url, additional_headers=by("2001:db8::3"))
        assert caught.value.response.status_code == 503
        assert b"all 2 WebSockets of your address" in caught.value.response.body
        first.send('{"type": "state"}')
        assert '"state"' in str(first.recv(timeout=5))
        with connect(url, additional_headers=by("2001:db8:0:1::1")):
            pass
    with connect(url, additional_headers=by("2001:db8::3")):
        pass


def test_without_a_trusted_proxy_nobody_names_its_address(catalogue: Catalogue) -> None:
    with serving(catalogue, **PLACES) as address:
        codes = [begun(address, f"192.0.2.{each}", f"a-{each}").status_code for each in range(5)]
        assert codes == [200, 200, 200, 200, 503]
