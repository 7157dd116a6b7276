"""A server of chat completions on a real socket, for tests; a helper, not a test."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from daedalus.design.designers.endpoint import EndpointSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism

VALID = format_mechanism(Mechanism(reserve_price=0.25))


@dataclass
class Reply:
    """What the server sends back: a chat saying ``text``, another body, or ``raw`` bytes alone.

    With ``pause`` it waits that many seconds before each byte of the body.
    """

    text: str | None = VALID
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    raw: bytes | None = None
    pause: float = 0.0

    def payload(self) -> bytes:
        if self.body is not None:
            return self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        message = {"role": "assistant", "content": self.text}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        chat = {"id": "1", "object": "chat.completion", "created": 0, "model": "m"}
        return json.dumps(chat | {"choices": [choice]}).encode()


Respond = Callable[[int, dict[str, Any]], Reply]
"""From how many requests came before, and this one's body, to the reply."""


@dataclass
class Server:
    """What a running server has been asked."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, request: dict[str, Any]) -> int:
        with self.lock:
            self.requests.append(request | {"time": time.monotonic()})
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            return len(self.requests) - 1

    def settings(self, **changes: Any) -> EndpointSettings:
        usual = {"base_url": self.url, "model": "m", "retries": 0, "timeout": 60.0}
        return EndpointSettings(**(usual | changes))


@contextmanager
def serving(respond: Respond) -> Iterator[Server]:
    """Run a server on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else a body waits 40 ms for word that its head has come

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = {"path": self.path, "headers": headers, "body": body}
            reply = respond(server.note(request), body)
            time.sleep(reply.delay)
            with server.lock:
                server.at_once -= 1
            self.send(reply)

        def send(self, reply: Reply) -> None:
            if reply.raw is not None:
                self.wfile.write(reply.raw)
                self.close_connection = True
                return
            payload = reply.payload()
            self.send_response(reply.status)
            headers = {"Content-Type": "application/json", "Content-Length": str(len(payload))}
            for name, value in (headers | reply.headers).items():
                self.send_header(name, value)
            self.end_headers()
            parts = [bytes([each]) for each in payload] if reply.pause else [payload]
            for part in parts:
                time.sleep(reply.pause)
                self.wfile.write(part)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    http.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that gave up
    server = Server(f"http://127.0.0.1:{http.server_port}/v1")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()


def always(**reply: Any) -> Respond:
    """Return a server that sends the same reply to every request."""
    return lambda _, __: Reply(**reply)
