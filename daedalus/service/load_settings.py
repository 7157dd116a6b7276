"""Settings of the load that measures a service."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from daedalus.checks import Checked, at_least


@dataclass
class LoadSettings(Checked):
    """The load on a service that is measured.

    Attributes:
        seconds: Duration of each load except that of the highest rate over HTTP.
        longest: Duration of the load of the highest rate over HTTP, in seconds.
        http_sessions: Number of sessions over HTTP, which share the rate.
        http_rates: Rates over HTTP, in steps a second, ascending.
        websocket_sessions: Numbers of sessions over WebSockets, ascending.
        websocket_rate: Rate over all WebSockets together, in steps a second.

    Raises:
        ValueError: A number is out of range, or a list is empty or not ascending.
    """

    seconds: float = at_least(0.1, 8.0)
    longest: float = at_least(0.1, 60.0)
    http_sessions: int = at_least(1, 100)
    http_rates: list[float] = field(default_factory=lambda: [100.0, 300.0, 1000.0])
    websocket_sessions: list[int] = field(default_factory=lambda: [1, 50, 200])
    websocket_rate: float = at_least(0.1, 300.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("http_rates", "websocket_sessions"):
            values = getattr(self, name)
            numbers = all(1 <= each < math.inf for each in values)
            if not values or not numbers or values != sorted(values):
                raise ValueError(f"{name}: {values}; give numbers from 1 up, ascending")
