"""The address of the service, as it is printed."""

from __future__ import annotations

import pytest

from daedalus.service.address import web_address


@pytest.mark.parametrize(
    ("host", "address"),
    [("127.0.0.1", "http://127.0.0.1:8000"), ("::1", "http://[::1]:8000")],
)
def test_an_address_can_be_opened_in_a_browser(host: str, address: str) -> None:
    assert web_address(host, 8000) == address
