"""An interrupt that comes while a kernel is compiled ends the program, and afterwards."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest
from numba import njit
from numba.core import event

from daedalus.market.factory import make_market
from daedalus.market.interface import MarketSettings
from daedalus.market.population import Population


class Interrupter(event.Listener):
    """Sends a signal in the middle of every compilation."""

    number = signal.SIGINT

    def on_start(self, _: event.Event) -> None:
        signal.raise_signal(self.number)

    def on_end(self, _: event.Event) -> None:
        pass


@pytest.fixture
def interrupter() -> Iterator[Interrupter]:
    make_market(MarketSettings(), Population())
    listener = Interrupter()
    event.register("numba:compile", listener)
    yield listener
    event.unregister("numba:compile", listener)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_kernel_is_compiled_before_a_signal_is_obeyed(
    number: signal.Signals, interrupter: Interrupter
) -> None:
    interrupter.number, before = number, signal.getsignal(signal.SIGTERM)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    handler = signal.getsignal(number)
    double = njit(lambda x: 2 * x)
    with pytest.raises(KeyboardInterrupt):
        double(2)
    assert len(double.signatures) == 1
    assert signal.getsignal(number) is handler
    assert double(2) == 4
    signal.signal(signal.SIGTERM, before)


def test_other_threads_compile_too() -> None:
    results = []
    thread = threading.Thread(target=lambda: results.append(njit(lambda x: 3 * x)(2)))
    thread.start()
    thread.join()
    assert results == [6]
