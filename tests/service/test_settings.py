"""Settings of the service: a value out of range is refused with a hint."""

from __future__ import annotations

import re

import pytest

from daedalus.service.settings import ServiceSettings


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"port": 70_000}, "port: 70000"),
        ({"http_sessions": 0}, "http_sessions: 0"),
        ({"cors_origins": ["*"]}, "SCHEME://HOST"),
        ({"hosts": ["example.org:8000"]}, "hosts: 'example.org:8000'; give a name without a port"),
        ({"trusted_proxies": ["*"]}, "trusted_proxies: '*'; give an address such as 127.0.0.1"),
        ({"sessions_per_address": 0}, "sessions_per_address: 0"),
        ({"hosts": ["a.*.org"]}, "hosts: 'a.*.org'"),
        ({"session_timeout": 20.0}, "twice design_timeout"),
        ({"session_grace": 20.0}, "session_grace: 20.0"),
        ({"checkpoint": ""}, "checkpoint"),
    ],
)
def test_settings_out_of_range_are_refused(changes: dict, hint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(hint)):
        ServiceSettings(**changes)
