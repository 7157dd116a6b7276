"""Settings of a chat server are checked, and never hold a key."""

from __future__ import annotations

from typing import Any

import pytest

from daedalus.design.language.chat_server import ChatServer

KEY = "sk-very-secret-51423"


@pytest.mark.parametrize(
    ("setting", "value"),
    [("model", ""), ("base_url", "localhost:8000"), ("base_url", "http://")],
)
def test_settings_are_checked(setting: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{setting}: "):
        ChatServer(**({"model": "m"} | {setting: value}))


@pytest.mark.parametrize(
    "address",
    [
        "http://localhost:80o1/v1",
        "http://localhost:99999/v1",
        "http://[::1/v1",
        "http://a\tb",
        "http://256.1.1.1/v1",
    ],
)
def test_a_mistyped_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"base_url: .*; give an address such as http://"):
        ChatServer(model="m", base_url=address)


@pytest.mark.parametrize(
    "secret",
    [
        {"api_key_variable": KEY},
        {"base_url": f"http://me:{KEY}@localhost/v1"},
        {"base_url": f"http://me:{KEY}@localhost:80o1/v1"},
        {"base_url": f"http://me:{KEY}@[::1/v1"},
    ],
)
def test_a_key_among_the_settings_is_refused_and_not_repeated(secret: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="variable") as caught:
        ChatServer(model="m", **secret)
    assert KEY not in str(caught.value)
