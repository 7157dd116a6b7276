"""A step is timed alone and beside busy processes, which end with the measurement."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from daedalus.design.env import DesignEnv
from daedalus.launch.config.paths import ROOT
from daedalus.market.interface import MarketSettings
from daedalus.training import step_time as timed
from daedalus.training.settings import ModelSettings
from daedalus.training.step_time import busy_processes, step_time
from tests.populations import population


def test_a_step_takes_time_alone_and_beside_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timed, "SEQUENCES", 4)
    settings = ModelSettings(hidden_size=32, layers=1)
    times = step_time(settings, DesignEnv.of(MarketSettings(), population(3)), busy=1)
    assert len(times) == 2 and all(0 < each < 60 for each in times)


def test_busy_processes_are_at_work_and_end_with_the_block() -> None:
    with busy_processes(2) as busy:
        assert len(busy) == 2 and all(each.poll() is None for each in busy)
    assert all(each.poll() is not None for each in busy)


def test_threads_wait_passively_when_training_is_imported() -> None:
    asks = "import os, daedalus.training; print(os.environ['OMP_WAIT_POLICY'])"
    plain = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
    done = subprocess.run(
        [sys.executable, "-c", asks], cwd=ROOT, env=plain, capture_output=True, text=True
    )
    assert done.stdout == "PASSIVE\n"
