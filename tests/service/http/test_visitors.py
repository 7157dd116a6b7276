"""Visitors by address: each holds its own places, and only a trusted proxy names addresses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import requests
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from daedalus.service.http.visitors import visitor_of
from daedalus.service.openenv.catalogue import Catalogue
from tests.service.conftest import serving

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


def play(address: str, visitor: str, name: str) -> requests.Response:
    """Open a session and play a step, so that it does not give way; the answer to the reset."""
    begin = {"session_id": name, "seed": 1}
    answer = requests.post(f"{address}/reset", json=begin, headers=by(visitor))
    requests.post(f"{address}/step", json={"session_id": name, "action": {}}, headers=by(visitor))
    return answer


def test_behind_a_trusted_proxy_a_visitor_holds_only_its_own_sessions(proxied: str) -> None:
    codes = [play(proxied, "192.0.2.1", f"greedy-{each}").status_code for each in range(4)]
    assert codes == [200, 200, 503, 503]
    refused = play(proxied, "192.0.2.1", "greedy-4")
    assert "all 2 sessions of your address are taken" in refused.json()["error"]
    assert 1 <= int(refused.headers["Retry-After"]) <= 120
    assert play(proxied, "192.0.2.2", "newcomer").status_code == 200
    assert play(proxied, "2001:db8::1", "another").status_code == 200


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
        codes = [play(address, f"192.0.2.{each}", f"a-{each}").status_code for each in range(5)]
        assert codes == [200, 200, 200, 200, 503]
