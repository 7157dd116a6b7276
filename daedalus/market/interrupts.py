"""An interrupt that arrives while kernels load takes effect once they are loaded."""

from __future__ import annotations

import functools
import signal
import threading
from types import FrameType

from numba.core import event

_LOADING = "numba:compiler_lock"  # held while a kernel is compiled, or fetched from the cache


@functools.cache
def hold_interrupts_while_loading() -> None:
    """From now on, obey SIGINT only while no kernel is loading."""
    event.register(_LOADING, InterruptHolder())  # type: ignore[no-untyped-call]


class InterruptHolder(event.Listener):
    """Keeps SIGINT from Python code that LLVM calls back, where an exception is lost.

    ctypes prints an exception of a callback and goes on, so an interrupt there would stop nothing.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._handler: signal._HANDLER = None
        self._interrupted = False

    def on_start(self, _: event.Event) -> None:
        """Note interrupts from now on instead of obeying them."""
        if not _may_handle_signals():
            return
        self._depth += 1
        if self._depth == 1 and callable(signal.getsignal(signal.SIGINT)):
            self._interrupted = False
            self._handler = signal.signal(signal.SIGINT, self._note)

    def on_end(self, _: event.Event) -> None:
        """Obey interrupts again, beginning with one that was noted."""
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
