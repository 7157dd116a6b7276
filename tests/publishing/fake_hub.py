"""A hub on this machine that takes repositories and commits; a helper for tests, not a test."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class FakeHub:
    """What the hub holds and how it behaves.

    Attributes:
        address: Address of the server.
        repositories: Content of the files of each repository, by their paths.
        private: The repositories that are private.
        messages: Message of each commit.
        refusal: Status with which commits are refused; 0 takes them.
    """

    address: str = ""
    repositories: dict[str, dict[str, bytes]] = field(default_factory=dict)
    private: set[str] = field(default_factory=set)
    messages: list[str] = field(default_factory=list)
    refusal: int = 0

    def create(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Make an empty repository."""
        name = f"{body['organization']}/{body['name']}"
        answer = {"url": f"{self.address}/{name}", "name": name}
        if name in self.repositories:
            return 409, answer | {"error": "You already created this model repo"}
        self.repositories[name] = {}
        self.private |= {name} if body["visibility"] == "private" else set()
        return 200, answer

    def commit(self, name: str, lines: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
        """Change the files of a repository."""
        if self.refusal:
            return self.refusal, {"error": "refused"}
        for line in lines:
            value = line["value"]
            if line["key"] == "header":
                self.messages.append(value["summary"])
            elif line["key"] == "file":
                self.repositories[name][value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "deletedFile":
                del self.repositories[name][value["path"]]
        url = f"{self.address}/{name}/commit/{COMMIT}"
        return 200, {"success": True, "commitOid": COMMIT, "commitUrl": url}

    def read(self, path: str) -> tuple[int, Any]:
        """Return what the client asks about a repository: the repository, or its files."""
        name = "/".join(path.split("/")[3:5])
        files = self.repositories[name]
        if "/tree/" in path:
            return 200, [
                {"type": "file", "path": each, "size": len(text), "oid": "0" * 40}
                for each, text in files.items()
            ]
        siblings = [{"rfilename": each} for each in files]
        return 200, {"id": name, "sha": COMMIT, "siblings": siblings, "private": True}

    def write(self, path: str, body: bytes) -> tuple[int, Any]:
        """Take a change."""
        if path == "/api/repos/create":
            return self.create(json.loads(body))
        if path == "/api/validate-yaml":
            return 200, {"errors": [], "warnings": []}
        name = "/".join(path.split("/")[3:5])
        if "/preupload/" in path:
            files = json.loads(body)["files"]
            modes = [{"path": each["path"], "uploadMode": "regular"} for each in files]
            return 200, {"files": [each | {"shouldIgnore": False} for each in modes]}
        return self.commit(name, [json.loads(line) for line in body.splitlines()])


@contextmanager
def serving() -> Iterator[FakeHub]:
    """Serve an empty hub."""
    hub = FakeHub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(*hub.read(self.path.partition("?")[0]))

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(*hub.write(self.path.partition("?")[0], body))

        def answer(self, status: int, value: object) -> None:
            text = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *arguments: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
