"""An interrupt that comes while a kernel is compiled ends the program, and afterwards."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest
from numba import njit
from numba.core import event

from daedalus.market.interface import MarketSettings
from daedalus.market.making import make_market
from daedalus.market.population import Population


class Interrupter(event.Listener):
    """Interrupts the program in the middle of every compilation."""

    def on_start(self, _: event.Event) -> None:
        signal.raise_signal(signal.SIGINT)

    def on_end(self, _: event.Event) -> None:
        pass


@pytest.fixture
def interrupted() -> Iterator[None]:
    make_market(MarketSettings(), Population())
    listener = Interrupter()
    event.register("numba:compile", listener)
    yield
    event.unregister("numba:compile", listener)


@pytest.mark.usefixtures("interrupted")
def test_a_kernel_is_compiled_before_an_interrupt_is_obeyed() -> None:
    handler = signal.getsignal(signal.SIGINT)
    double = njit(lambda x: 2 * x)
    with pytest.raises(KeyboardInterrupt):
        double(2)
    assert len(double.signatures) == 1
    assert signal.getsignal(signal.SIGINT) is handler
    assert double(2) == 4


def test_other_threads_compile_too() -> None:
    results = []
    thread = threading.Thread(target=lambda: results.append(njit(lambda x: 3 * x)(2)))
    thread.start()
    thread.join()
    assert results == [6]
