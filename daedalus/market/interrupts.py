"""An interrupt that arrives while kernels are loaded takes effect after they are loaded."""

from __future__ import annotations

import functools
import signal
import threading
from types import FrameType

from numba.core import event

_LOADING = "numba:compiler_lock"  # locked while a kernel is compiled or read from the cache


@functools.cache
def hold_interrupts_while_loading() -> None:
    """Delay SIGINT while kernels are loaded, from now on."""
    event.register(_LOADING, InterruptHolder())  # type: ignore[no-untyped-call]  # numba: no types


class InterruptHolder(event.Listener):
    """Keeps SIGINT away from Python code that LLVM calls back, where an exception is lost.

    ctypes only prints an exception that a callback raises. An interrupt that arrived there would
    not stop the program.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._handler: signal._HANDLER = None
        self._interrupted = False

    def on_start(self, _: event.Event) -> None:
        """Only note interrupts from now on."""
        if not _may_handle_signals():
            return
        self._depth += 1
        if self._depth == 1 and callable(signal.getsignal(signal.SIGINT)):
            self._interrupted = False
            self._handler = signal.signal(signal.SIGINT, self._note)

    def on_end(self, _: event.Event) -> None:
        """Let interrupts take effect again, and raise the one that was noted."""
        if not _may_handle_signals() or not self._depth:
            return
        self._depth -= 1
        if self._depth == 0 and self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)
            self._handler = None
            if self._interrupted:
                signal.raise_signal(signal.SIGINT)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._interrupted = True


def _may_handle_signals() -> bool:
    return threading.current_thread() is threading.main_thread()
