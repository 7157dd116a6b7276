"""An interrupt that arrives while kernels are loaded takes effect after they are loaded."""

from __future__ import annotations

import functools
import signal
import threading
from types import FrameType

from numba.core import event

_LOADING = "numba:compiler_lock"  # locked while a kernel is compiled or read from the cache
_HELD = (signal.SIGINT, signal.SIGTERM)


@functools.cache
def hold_interrupts_while_loading() -> None:
    """Delay SIGINT and SIGTERM while kernels are loaded, from now on."""
    event.register(_LOADING, InterruptHolder())  # type: ignore[no-untyped-call]  # numba: no types


class InterruptHolder(event.Listener):
    """Keeps signals away from Python code that LLVM calls back, where an exception is lost.

    ctypes only prints an exception that a callback raises. An interrupt that arrived there would
    not stop the program.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._handlers: dict[signal.Signals, signal._HANDLER] = {}
        self._noted: int | None = None

    def on_start(self, _: event.Event) -> None:
        """Only note signals from now on."""
        if not _may_handle_signals():
            return
        self._depth += 1
        if self._depth == 1:
            self._noted = None
            heeded = [each for each in _HELD if callable(signal.getsignal(each))]
            self._handlers = {each: signal.signal(each, self._note) for each in heeded}

    def on_end(self, _: event.Event) -> None:
        """Let signals take effect again, and raise the one that was noted."""
        if not _may_handle_signals() or not self._depth:
            return
        self._depth -= 1
        if self._depth == 0:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
            if self._noted is not None:
                signal.raise_signal(self._noted)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._noted = number


def _may_handle_signals() -> bool:
    return threading.current_thread() is threading.main_thread()
