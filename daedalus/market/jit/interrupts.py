"""An interrupt that arrives while kernels are loaded takes effect after they are loaded."""

from __future__ import annotations

import functools
import threading
from contextlib import ExitStack

from numba.core import event

from daedalus.signals import holding_stops

_LOADING = "numba:compiler_lock"  # locked while a kernel is compiled or read from the cache


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
        self._held = ExitStack()

    def on_start(self, _: event.Event) -> None:
        """Hold signals back from now on."""
        if _may_handle_signals():
            self._depth += 1
            if self._depth == 1:
                self._held.enter_context(holding_stops())

    def on_end(self, _: event.Event) -> None:
        """Let signals take effect again, also the one that was held back."""
        if _may_handle_signals() and self._depth:
            self._depth -= 1
            if self._depth == 0:
                self._held.close()


def _may_handle_signals() -> bool:
    return threading.current_thread() is threading.main_thread()
