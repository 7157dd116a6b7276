"""The time of a run by phase."""

from __future__ import annotations

import time
from pathlib import Path

import pandas as pd
import pytest

from daedalus.runs.phases import EVALUATION, GRPO, OTHER, SEARCH, clock_run, phase, spent
from tests.launching import play


def walls() -> dict[str, float]:
    return {each.phase: each.wall_seconds for each in spent()}


@phase(SEARCH)
def search(seconds: float) -> None:
    time.sleep(seconds)


def test_the_time_of_an_inner_phase_is_not_the_outer_ones(tmp_path: Path) -> None:
    with clock_run(tmp_path / "phases.csv"):
        time.sleep(0.1)
        with phase(EVALUATION):
            search(0.3)
            time.sleep(0.2)
        search(0.1)
        seconds = walls()
    assert list(seconds) == [SEARCH, EVALUATION, OTHER]
    assert seconds[SEARCH] >= 0.4 and seconds[EVALUATION] >= 0.2 and seconds[OTHER] >= 0.1
    assert seconds[EVALUATION] < 0.4  # 0.3 more if the inner phase counted twice


def test_waiting_takes_time_on_the_clock_and_none_of_a_core(tmp_path: Path) -> None:
    with clock_run(tmp_path / "phases.csv"), phase(GRPO):
        time.sleep(0.3)
        waited = spent()[0]
    assert waited.phase == GRPO and waited.wall_seconds >= 0.3 and waited.cpu_seconds < 0.2


def test_launches_of_one_run_add_up_also_if_one_breaks_off(tmp_path: Path) -> None:
    path = tmp_path / "phases.csv"
    with pytest.raises(KeyboardInterrupt), clock_run(path), phase(SEARCH):
        time.sleep(0.2)
        raise KeyboardInterrupt
    with clock_run(path):
        search(0.2)
        assert walls()[SEARCH] >= 0.4
    assert pd.read_csv(path).set_index("phase").loc[SEARCH, "wall_seconds"] >= 0.4


def test_without_a_run_nothing_is_counted() -> None:
    search(0.0)
    assert spent() == []


@pytest.mark.slow
def test_a_run_shows_its_phases(tmp_path: Path) -> None:
    small = ["designer.candidates=2", "designer.episodes=1", "designer.sweeps=0"]
    small += ["evaluation.episodes=2", "evaluation.resamples=100"]
    play(tmp_path, "+experiment=search", "tracking=files", *small)
    seconds = pd.read_csv(tmp_path / "phases.csv").set_index("phase")["wall_seconds"]
    assert set(seconds.index) == {SEARCH, EVALUATION, OTHER} and (seconds >= 0).all()
    assert (tmp_path / "figures" / "phases.png").exists()
