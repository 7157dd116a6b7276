"""Answers on disk: one line of JSON for each, only ever appended."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import threading
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from daedalus.checks import CannotRunError
from daedalus.language.prompt import Message
from daedalus.language.reply import Reply

_BEGINNING = '{"key":'


def key_of(model: str, options: Mapping[str, Any], chat: Sequence[Message]) -> str:
    """Return the key of an answer: a digest of who was asked, how, and what."""
    asked = json.dumps([model, dict(options), list(chat)], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()


class AnswerFile:
    """Answers of models, which outlive the run that asked for them.

    Each answer is written at once, so that a killed run loses none; of a line that was torn then,
    the rest of the file does not suffer. Several processes may append to one file.

    Args:
        path: The file; it may not exist yet.

    Raises:
        CannotRunError: The file holds something else.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._replies = {}
        if path.exists() and path.stat().st_size:
            self._replies = {key: reply for key, _, reply in _entries(path.read_bytes(), path)}
            _end_last_line(path)

    def get(self, key: str) -> Reply | None:
        """Return the answer of a key, or None."""
        return self._replies.get(key)

    def add(
        self, model: str, options: Mapping[str, Any], chat: Sequence[Message], reply: Reply
    ) -> None:
        """Append an answer. Threads may share the file."""
        key = key_of(model, options, chat)
        asked = {"key": key, "model": model, "options": dict(options), "chat": list(chat)}
        line = json.dumps(asked | vars(reply)) + "\n"
        with self._lock:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("ab", buffering=0) as file:
                file.write(line.encode())
            self._replies[key] = reply


def recorded_answers(path: Path) -> dict[str, Reply]:
    """Return the answers of a file by the key of their chat alone, whoever was asked.

    Args:
        path: What ``AnswerFile`` wrote, or the same packed by gzip (``.gz``).

    Raises:
        CannotRunError: There is no such file, it holds something else, or answers of several
            models or options.
    """
    if not path.is_file():
        raise CannotRunError(f"file: {path} does not exist; name a file of answers")
    entries = _entries(_content(path), path)
    asked = {json.dumps([line["model"], line["options"]], sort_keys=True) for _, line, _ in entries}
    if len(asked) > 1:
        raise CannotRunError(
            f"file: {path} holds answers of {len(asked)} models or options; keep those of one"
        )
    return {key_of("", {}, line["chat"]): reply for _, line, reply in entries}


def _content(path: Path) -> bytes:
    if path.suffix != ".gz":
        return path.read_bytes()
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise CannotRunError(
            f"file: {path} is not packed by gzip, or torn; pack it anew"
        ) from error


def _entries(content: bytes, path: Path) -> list[tuple[str, dict[str, Any], Reply]]:
    """Return key, line and answer of all lines that are whole."""
    lines = content.decode(errors="replace").split("\n")
    if not lines[0].startswith(_BEGINNING[: len(lines[0])]) or not lines[0]:
        raise CannotRunError(f"{path}: it holds no answers of bidders; name another file")
    found = []
    for line in lines:
        try:
            fields = json.loads(line)
            tokens = fields["prompt_tokens"], fields["completion_tokens"]
            found.append((fields["key"], fields, Reply(fields["text"], *tokens)))
        except (ValueError, TypeError, KeyError):  # torn when its writer was killed
            continue
    return found


def _end_last_line(path: Path) -> None:
    """End a last line that was torn, so that the next one begins anew."""
    with path.open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")
