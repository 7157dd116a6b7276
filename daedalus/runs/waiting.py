"""A sign of life for whoever waits: a line if a command has said nothing for a while."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from threading import Timer

SILENCE = 1.2
"""Seconds after which a command that has said nothing says that it is at work."""

_timer: ContextVar[Timer | None] = ContextVar("timer", default=None)


@contextmanager
def breaking_silence(line: str) -> Iterator[None]:
    """Write a line to standard error if the block lasts long and does not call ``heard``."""
    timer = Timer(SILENCE, _say, [line])
    timer.daemon = True
    token = _timer.set(timer)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _timer.reset(token)


def heard() -> None:
    """Leave out the line: the command has said something itself."""
    timer = _timer.get()
    if timer is not None:
        timer.cancel()


def _say(line: str) -> None:
    with suppress(OSError):  # nobody reads it
        os.write(2, f"{line}\n".encode())
