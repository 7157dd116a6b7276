"""How hard a service is driven to measure it."""

from __future__ import annotations

from dataclasses import dataclass, field

from daedalus.checks import require_at_least


@dataclass
class LoadSettings:
    """How hard a service is driven to measure it.

    Attributes:
        seconds: How long each load lasts, but for the greatest rate over HTTP.
        longest: How long that one lasts, in seconds.
        http_sessions: Sessions over HTTP that share the rate.
        http_rates: Steps a second that are asked for over HTTP, ascending.
        websocket_sessions: Sessions over WebSockets, ascending.
        websocket_rate: Steps a second that are asked for over all WebSockets together.

    Raises:
        ValueError: A number is out of range, or a list is empty or not in order.
    """

    seconds: float = 8.0
    longest: float = 60.0
    http_sessions: int = 100
    http_rates: list[float] = field(default_factory=lambda: [100.0, 300.0, 1000.0])
    websocket_sessions: list[int] = field(default_factory=lambda: [1, 50, 200])
    websocket_rate: float = 300.0

    def __post_init__(self) -> None:
        require_at_least(0.1, self, "seconds", "longest", "websocket_rate")
        require_at_least(1, self, "http_sessions")
        for name in ("http_rates", "websocket_sessions"):
            values = getattr(self, name)
            if not values or values != sorted(values) or values[0] < 1:
                raise ValueError(f"{name}: {values}; give numbers from 1 up, ascending")
