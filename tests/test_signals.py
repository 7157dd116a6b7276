"""Signals that stop the program are handled, or held back."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from daedalus import signals
from daedalus.signals import ending_by, handling_stops, holding_stops


def test_a_handler_takes_both_signals_in_the_block() -> None:
    before, taken = signal.getsignal(signal.SIGTERM), list[int]()
    with handling_stops(lambda number, _: taken.append(number)):
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
    assert taken == [signal.SIGTERM, signal.SIGINT]
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("failing", [False, True])
def test_a_signal_waits_for_the_end_of_the_block(failing: bool) -> None:
    done = False
    with pytest.raises(KeyboardInterrupt), holding_stops():
        signal.raise_signal(signal.SIGINT)
        done = True
        if failing:
            raise ImportError
    assert done


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_block_that_holds_a_signal_for_long_is_ended(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "PATIENCE", 0.05)
    before, ended = signal.signal(signal.SIGTERM, signal.default_int_handler), list[int]()
    with pytest.raises(KeyboardInterrupt), ending_by(ended.append), holding_stops():
        signal.raise_signal(number)
        until = time.monotonic() + 60
        while not ended and time.monotonic() < until:
            time.sleep(0.01)
    signal.signal(signal.SIGTERM, before)
    assert ended == [number]


def test_a_second_signal_ends_the_block_at_once() -> None:
    ended = list[int]()
    with pytest.raises(KeyboardInterrupt), ending_by(ended.append), holding_stops():
        signal.raise_signal(signal.SIGINT)
        assert not ended
        signal.raise_signal(signal.SIGINT)
        assert ended == [signal.SIGINT]


def test_another_thread_holds_nothing_and_does_not_fail() -> None:
    """Bidders of this process are loaded in threads, and their imports hold stops back."""
    entered = []

    def enter() -> None:
        with holding_stops():
            entered.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert entered == [before]
