"""Settings of the service."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from ipaddress import ip_network
from urllib.parse import urlsplit

from daedalus.checks import Checked, at_least, within

_HOST = re.compile(r"\*|(\*\.)?[\w-]+(\.[\w-]+)*")
NEWEST, NONE = "newest", "none"
"""Words for ``checkpoint``: the newest model under ``outputs``, and no model at all.

Another is ``pretrained``, see ``daedalus.runs.pretrained``.
"""


@dataclass
class ServiceSettings(Checked):
    """The address of the service, and its limits. Times are in seconds.

    Attributes:
        host: Address to listen on; the default accepts connections from this machine alone.
        port: Port, 0 to 65535; 0 takes any free port.
        hosts: Names under which the service answers, without a port. ``*.example.org`` means the
            subdomains, ``*`` any name. It also answers under every IP address.
        cors_origins: Other web origins, such as ``https://example.org``, whose pages may use the
            service.
        http_sessions: Largest number of live sessions over HTTP.
        websocket_sessions: Largest number of OpenEnv sessions, one for each WebSocket.
        trusted_proxies: Addresses or networks of proxies in front of the service. The visitor's
            address is what they write into ``X-Forwarded-For``; nobody else's word counts.
        sessions_per_address: Largest number of live sessions of one visitor's address, over HTTP
            and again over WebSockets; of IPv6, of one network of 64 bits. It holds only with
            ``trusted_proxies``; otherwise many visitors may share a proxy's address.
        session_timeout: Idle time after which a session ends.
        session_grace: Idle time after which a session over HTTP ends if all places are taken and
            a client wants one; well above the time that a model takes to answer. A session that
            has played no step then ends at once.
        connections: Largest number of open connections, WebSockets included. When all are taken,
            those that wait for their next request are closed.
        request_timeout: Longest time for a request's head to arrive, and again for its body.
        answer_timeout: Longest time that a client may leave an answer unread before its
            connection is closed (Linux only).
        websocket_ping: Time between two pings of a WebSocket, and longest time for a pong.
        max_body_bytes: Longest request body and longest WebSocket message, in bytes.
        max_upload_bytes: Longest request with a CSV of bids, in bytes; 0 takes none.
        max_episode_length: Longest episode on offer, in steps.
        max_fork_steps: Most steps that one fork plays: mechanisms x futures x horizon. 0 allows no
            forks: where players compete, a fork would tell them what a mechanism earns.
        fork_steps_per_address: Most steps a second that forks of one visitor's address play in the
            long run. It holds only with ``trusted_proxies``, as ``sessions_per_address`` does.
        checkpoint: The trained designer: a model's directory or hub name, ``pretrained`` for the
            model of the package, ``newest`` for the newest model under ``outputs`` and else the
            one of the package, or ``none``. No request can name a model.
        constrained: Whether masked tokens make the designer's answers valid; None as in training.
        design_timeout: Longest time that a request waits for the trained designer before the
            heuristic one answers; and for a language model that bids.
        design_queue: Largest number of different questions that wait for the trained designer, of
            searches, of briefs, and of steps that wait for a language model's bids.
        job_timeout: Longest time of a search, which has a process of its own, one at a time; those
            of briefs have another.
        report_timeout: Longest time of a report on bids, likewise.
        outputs: Folder that contains runs: models, curves and figures.
        write_up: The article; it and the Markdown files beside it are served as /read/NAME.

    Raises:
        ValueError: A number is out of range, or a host, a proxy or an origin is malformed.
    """

    host: str = "127.0.0.1"
    port: int = within(0, 65535, 8000, "an integer")
    hosts: list[str] = field(default_factory=lambda: ["localhost"])
    cors_origins: list[str] = field(default_factory=list)
    http_sessions: int = at_least(1, 256)
    websocket_sessions: int = at_least(1, 256)
    trusted_proxies: list[str] = field(default_factory=list)
    sessions_per_address: int = at_least(1, 32)
    session_timeout: float = at_least(0.001, 1800.0)
    session_grace: float = at_least(0.001, 120.0)
    connections: int = 600
    request_timeout: float = at_least(0.001, 10.0)
    answer_timeout: float = at_least(0.001, 30.0)
    websocket_ping: float = at_least(0.001, 20.0)
    max_body_bytes: int = at_least(1024, 65_536)
    max_upload_bytes: int = at_least(0, 1_000_000, "an integer")
    max_episode_length: int = at_least(1, 1000)
    max_fork_steps: int = at_least(0, 512, "an integer")
    fork_steps_per_address: float = at_least(1, 2000.0)
    checkpoint: str = NEWEST
    constrained: bool | None = None
    design_timeout: float = at_least(0.001, 30.0)
    design_queue: int = at_least(1, 8)
    job_timeout: float = at_least(0.001, 45.0)
    report_timeout: float = at_least(0.001, 180.0)
    outputs: str = "outputs"
    write_up: str = "docs/blog.md"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.connections <= self.websocket_sessions:
            raise ValueError(
                f"connections: {self.connections}; give more than websocket_sessions, "
                f"{self.websocket_sessions}, or none are left for HTTP"
            )
        if not self.host or not self.checkpoint:
            raise ValueError(
                "host, checkpoint: empty; host takes an address, checkpoint newest, pretrained, "
                "none or a model"
            )
        for name in self.hosts:
            if not _HOST.fullmatch(name):
                raise ValueError(
                    f"hosts: {name!r}; give a name without a port, such as example.org, "
                    "*.example.org for its subdomains, or * for any name"
                )
        for proxy in self.trusted_proxies:
            try:
                ip_network(proxy)
            except ValueError as error:
                raise ValueError(
                    f"trusted_proxies: {proxy!r}; give an address such as 127.0.0.1, or a network "
                    "such as 10.0.0.0/8"
                ) from error
        for origin in self.cors_origins:
            parts = urlsplit(origin)
            if origin != f"{parts.scheme}://{parts.netloc}" or not parts.netloc:
                raise ValueError(
                    f"cors_origins: {origin!r}; give SCHEME://HOST[:PORT], without a path"
                )
        for name in ("session_timeout", "session_grace"):
            if getattr(self, name) < 2 * self.design_timeout:
                raise ValueError(
                    f"{name}: {getattr(self, name)}; give at least twice design_timeout, "
                    f"{2 * self.design_timeout}, or sessions end while a model answers"
                )
