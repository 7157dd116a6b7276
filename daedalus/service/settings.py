"""Settings of the service."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from daedalus.checks import require_at_least

NEWEST, NONE = "newest", "none"
"""Words for ``checkpoint``: the newest model that was trained here, and no model at all."""


@dataclass
class ServiceSettings:
    """Where the service listens, and what it grants to whom. Times are in seconds.

    Attributes:
        host: Address to listen on; the default is reached from this machine alone.
        port: Port, 0 to 65535; 0 takes any that is free.
        cors_origins: Web origins, such as ``https://example.org``, whose pages may use the
            service beside its own; none unless named.
        http_sessions: Sessions over HTTP that live at once.
        websocket_sessions: OpenEnv sessions, one for each WebSocket, that live at once.
        session_timeout: How long a session may be idle before it ends.
        session_grace: How long at least, over HTTP, before it gives way to another when every place
            is taken; well above what a model takes to answer.
        connections: Connections that live at once, WebSockets included; when all are taken, those
            that wait for their next request give way.
        request_timeout: How long a request's head may take to arrive, and its body again.
        answer_timeout: How long a client may leave an answer untaken before it is cut off, on
            systems that can tell (Linux).
        websocket_ping: How often a WebSocket is asked for a sign of life, and how long that may
            take.
        max_body_bytes: Longest request body and longest WebSocket message, in bytes.
        max_episode_length: Longest episode that may be asked for, in steps.
        checkpoint: The designer: a model's directory or hub name, ``newest`` for the newest that
            was trained here, or ``none``. No request can name one.
        constrained: Whether the designer's answers are made valid by masking tokens.
        design_timeout: How long a request waits for the designer before another one answers.
        design_queue: Requests that may wait for the designer at once.
        outputs: Folder in which runs are found: the newest model, curves and figures.
        write_up: The article that is served as /blog.md.

    Raises:
        ValueError: A number is out of range, or an origin is none.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    cors_origins: list[str] = field(default_factory=list)
    http_sessions: int = 256
    websocket_sessions: int = 256
    session_timeout: float = 1800.0
    session_grace: float = 120.0
    connections: int = 600
    request_timeout: float = 10.0
    answer_timeout: float = 30.0
    websocket_ping: float = 20.0
    max_body_bytes: int = 65_536
    max_episode_length: int = 1000
    checkpoint: str = NEWEST
    constrained: bool = False
    design_timeout: float = 30.0
    design_queue: int = 8
    outputs: str = "outputs"
    write_up: str = "docs/blog.md"

    def __post_init__(self) -> None:
        counts = ("http_sessions", "websocket_sessions", "max_episode_length", "design_queue")
        require_at_least(1, self, *counts)
        require_at_least(1024, self, "max_body_bytes")
        require_at_least(0.001, self, "session_timeout", "session_grace", "design_timeout")
        require_at_least(0.001, self, "request_timeout", "answer_timeout", "websocket_ping")
        if self.connections <= self.websocket_sessions:
            raise ValueError(
                f"connections: {self.connections}; give more than websocket_sessions, "
                f"{self.websocket_sessions}, or requests over HTTP find none"
            )
        if not 0 <= self.port <= 65535:
            raise ValueError(f"port: {self.port}; give an integer from 0 to 65535")
        if not self.host or not self.checkpoint:
            raise ValueError("host, checkpoint: empty; give an address; newest, none or a model")
        for origin in self.cors_origins:
            parts = urlsplit(origin)
            if origin != f"{parts.scheme}://{parts.netloc}" or not parts.netloc:
                raise ValueError(f"cors_origins: {origin!r}; give SCHEME://HOST[:PORT], no path")
        for name in ("session_timeout", "session_grace"):
            if getattr(self, name) < 2 * self.design_timeout:
                raise ValueError(
                    f"{name}: {getattr(self, name)}; give at least twice design_timeout, "
                    f"{2 * self.design_timeout}, or sessions expire while their model thinks"
                )
