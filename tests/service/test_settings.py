"""Settings of the service: a value out of range is refused with a hint."""

from __future__ import annotations

import re
from typing import Any

import pytest

from daedalus.service.load_settings import LoadSettings
from daedalus.service.settings import ServiceSettings


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"cors_origins": ["*"]}, "SCHEME://HOST"),
        ({"hosts": ["example.org:8000"]}, "hosts: 'example.org:8000'; give a name without a port"),
        ({"trusted_proxies": ["*"]}, "trusted_proxies: '*'; give an address such as 127.0.0.1"),
        ({"hosts": ["a.*.org"]}, "hosts: 'a.*.org'"),
        ({"session_timeout": 20.0}, "twice design_timeout"),
        ({"session_grace": 20.0}, "session_grace: 20.0"),
        ({"checkpoint": ""}, "checkpoint"),
    ],
)
def test_settings_out_of_range_are_refused(changes: dict, hint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(hint)):
        ServiceSettings(**changes)


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"http_rates": []}, "http_rates: []"),
        ({"http_rates": [0.5, 2.0]}, "http_rates: [0.5, 2.0]; give numbers from 1 up, ascending"),
        ({"websocket_sessions": [50, 1]}, "websocket_sessions: [50, 1]"),
    ],
)
def test_a_load_out_of_range_is_refused(changes: dict[str, Any], hint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(hint)):
        LoadSettings(**changes)
