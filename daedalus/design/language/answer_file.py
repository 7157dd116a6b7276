"""Answers on disk: one line of JSON for each, only ever appended."""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import logging
import os
import threading
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from daedalus.checks import CannotRunError
from daedalus.design.language.prompt import Message
from daedalus.design.language.reply import Reply

_BEGINNING = b'{"key":'
_NOTHING = b"\xef\xbb\xbf\0 \t\r\n"  # a byte order mark, zeros that a crash left, space
_LOG = logging.getLogger(__name__)


def key_of(model: str, options: Mapping[str, Any], chat: Sequence[Message]) -> str:
    """Return the key of an answer: a digest of who was asked, how, and what."""
    asked = json.dumps([model, dict(options), list(chat)], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()


class AnswerFile:
    """Answers of models, which outlive the run that asked for them.

    Each answer is written at once, so that a killed run loses none. A line that was torn then, or
    cannot be read for another reason, does not count; the log names it, and its question is asked
    again. Several processes may append to one file. It may not exist yet.

    Raises:
        CannotRunError: The file holds something else.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._replies = {}
        if path.exists() and path.stat().st_size:
            entries = _entries(path.read_bytes(), path, "their questions are asked again")
            self._replies = {key: reply for key, _, reply in entries}
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
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab", buffering=0) as file:
                if file.write(line.encode()) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.path))
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
    entries = _entries(_content(path), path, "they do not count")
    asked = {json.dumps([line["model"], line["options"]], sort_keys=True) for _, line, _ in entries}
    if len(asked) > 1:
        raise CannotRunError(
            f"file: {path} holds answers of {len(asked)} models or options; keep those of one"
        )
    return {key_of("", {}, line["chat"]): reply for _, line, reply in entries}


def number_of_answers(path: Path) -> int:
    """Return how many lines of a file can be read as answers; 0 if there is no such file."""
    if not path.is_file():
        return 0
    return sum(_entry(line) is not None for line in path.read_bytes().split(b"\n"))


def _content(path: Path) -> bytes:
    if path.suffix != ".gz":
        return path.read_bytes()
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise CannotRunError(
            f"file: {path} is not packed by gzip, or torn; pack it anew"
        ) from error


class _Entry(NamedTuple):
    key: str
    line: dict[str, Any]
    reply: Reply


def _entries(content: bytes, path: Path, then: str) -> list[_Entry]:
    """Return the entries of all lines that can be read; the log names others, and what follows."""
    lines = content.split(b"\n")
    read = [_entry(line) for line in lines]
    bad = [number for number, each in enumerate(read, 1) if not each and lines[number - 1].strip()]
    found = [each for each in read if each]
    first = content.strip(_NOTHING)
    if not found and not first.startswith(_BEGINNING[: len(first)]):
        raise CannotRunError(f"{path}: it holds no answers of models; name another file")
    if bad:
        _LOG.warning(
            "%s: %d of %d answers cannot be read, the first in line %d; %s",
            *(path, len(bad), len(bad) + len(found), bad[0], then),
        )
    return found


def _entry(line: bytes) -> _Entry | None:
    """Return the entry of a line; None if it is torn, or not what ``AnswerFile`` writes."""
    try:
        fields = json.loads(line.decode("utf-8-sig"))
        kinds = {"key": str, "model": str, "options": dict, "chat": list}
        if not all(isinstance(fields[name], kind) for name, kind in kinds.items()):
            return None
        tokens = fields["prompt_tokens"], fields["completion_tokens"]
        return _Entry(
            fields["key"], fields, Reply(fields["text"], *tokens, fields.get("reason", ""))
        )
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


def _end_last_line(path: Path) -> None:
    """End a last line that was torn, so that the next one begins anew."""
    with path.open("rb+") as file:
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")
