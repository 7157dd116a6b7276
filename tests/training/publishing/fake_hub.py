"""A hub on this machine that takes repositories and commits; a helper for tests, not a test."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.json_server import json_server

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

    def answer(path: str, body: bytes | None) -> tuple[int, Any]:
        path = path.partition("?")[0]
        return hub.read(path) if body is None else hub.write(path, body)

    with json_server(answer) as hub.address:
        yield hub
