"""SIGINT and SIGTERM, which ask the program to stop: handle them, or hold them back."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType

PATIENCE = 2.0
"""Seconds for which a stop waits for the end of a block that holds it back."""
_STOPS = (signal.SIGINT, signal.SIGTERM)
_end: ContextVar[Callable[[int], object] | None] = ContextVar("end", default=None)


@contextmanager
def handling_stops(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Let a handler take both signals in the block. Signals that the caller ignores stay ignored.

    Signals reach the main thread alone, so that a block of another thread needs no handler.
    """
    is_main = threading.current_thread() is threading.main_thread()
    known = [each for each in _STOPS if signal.getsignal(each) not in (signal.SIG_IGN, None)]
    heeded = known if is_main else []
    before = {each: signal.signal(each, handler) for each in heeded}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


@contextmanager
def ending_by(end: Callable[[int], object]) -> Iterator[None]:
    """Let ``end`` end the process if a block within this one holds a stop back for too long.

    Another thread may call it.
    """
    token = _end.set(end)
    try:
        yield
    finally:
        _end.reset(token)


@contextmanager
def holding_stops() -> Iterator[None]:
    """Let both signals wait for the end of the block, in which their exception would be lost.

    What ``ending_by`` names ends the process at a second signal, or after ``PATIENCE`` seconds.
    """
    held, left, end = list[int](), threading.Event(), _end.get()

    def hold(number: int, _: FrameType | None) -> None:
        held.append(number)
        if end is None:
            return
        if len(held) > 1:
            end(held[0])
        threading.Thread(target=_end_late, args=(left, end, number), daemon=True).start()

    try:
        with handling_stops(hold):
            yield
    finally:
        left.set()
        if held:
            signal.raise_signal(held[0])


def _end_late(left: threading.Event, end: Callable[[int], object], number: int) -> None:
    if not left.wait(PATIENCE):
        end(number)
