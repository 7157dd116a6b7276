"""SIGINT and SIGTERM, which ask the program to stop: handle them, or hold them back."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_STOPS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def handling_stops(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Let a handler take both signals in the block. Signals that the caller ignores stay ignored.

    Args:
        handler: Takes the signal's number and the frame that it interrupts.
    """
    heeded = [each for each in _STOPS if signal.getsignal(each) not in (signal.SIG_IGN, None)]
    before = {each: signal.signal(each, handler) for each in heeded}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


@contextmanager
def holding_stops() -> Iterator[None]:
    """Let both signals wait for the end of the block, in which their exception would be lost."""
    held = list[int]()
    try:
        with handling_stops(lambda number, _: held.append(number)):
            yield
    finally:
        if held:
            signal.raise_signal(held[0])
