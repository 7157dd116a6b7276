"""Signals that stop the program are handled, or held back."""

from __future__ import annotations

import signal

import pytest

from daedalus.signals import handling_stops, holding_stops


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
