"""Settings of the load: a number out of range is refused, and rates ascend."""

from __future__ import annotations

import re
from typing import Any

import pytest

from daedalus.service.load_settings import LoadSettings


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"seconds": 0.0}, "seconds: 0.0"),
        ({"longest": -1.0}, "longest: -1.0"),
        ({"websocket_rate": 0.0}, "websocket_rate: 0.0"),
        ({"http_sessions": 0}, "http_sessions: 0"),
        ({"http_rates": []}, "http_rates: []"),
        ({"http_rates": [0.5, 2.0]}, "http_rates: [0.5, 2.0]; give numbers from 1 up, ascending"),
        ({"websocket_sessions": [50, 1]}, "websocket_sessions: [50, 1]"),
    ],
)
def test_a_load_out_of_range_is_refused(changes: dict[str, Any], hint: str) -> None:
    with pytest.raises(ValueError, match=re.escape(hint)):
        LoadSettings(**changes)


def test_two_loads_share_no_list() -> None:
    LoadSettings().http_rates.append(1.0)
    assert LoadSettings().http_rates == [100.0, 300.0, 1000.0]
