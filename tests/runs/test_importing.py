"""Slow imports: the collector waits, and so do signals."""

from __future__ import annotations

import gc
import signal

import pytest

from daedalus.runs.importing import slow_imports


@pytest.mark.parametrize("collecting", [True, False])
def test_the_collector_passes_over_what_is_imported(collecting: bool) -> None:
    before = gc.isenabled()
    gc.enable() if collecting else gc.disable()
    frozen = gc.get_freeze_count()
    with slow_imports():
        assert not gc.isenabled()
        kept = [[number] for number in range(1000)]
    assert gc.isenabled() == collecting and gc.get_freeze_count() >= frozen + len(kept)
    gc.enable() if before else gc.disable()


def test_a_stop_waits_for_the_end_of_an_import() -> None:
    imported = False
    with pytest.raises(KeyboardInterrupt), slow_imports():
        signal.raise_signal(signal.SIGINT)
        imported = True
    assert imported
