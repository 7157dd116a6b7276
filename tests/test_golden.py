"""Small runs give the recorded numbers, to twelve digits."""

from __future__ import annotations

import json

import pytest

from tests import golden
from tests.launching import run_here

RECORDED = json.loads(golden.RECORD.read_text())
MARKET = ["baselines_strategic", "baselines_classic", "leaderboard", "theory"]
"""Runs whose numbers come from the market and from searches alone."""


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write no figures, which took a fifth of the time: only tables are compared."""
    monkeypatch.setattr("daedalus.evaluation.run_report.save", lambda figure, path: None)


def test_every_run_is_recorded() -> None:
    assert set(RECORDED) == set(golden.RUNS)
    assert all(RECORDED.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", MARKET)
def test_a_run_gives_the_recorded_numbers(name: str) -> None:
    assert golden.play(name, run_here) == RECORDED[name]


@pytest.mark.slow
def test_training_gives_the_recorded_numbers() -> None:
    """Compare sums to five digits: torch's last bits depend on the processor."""
    found, recorded = golden.play("smoke", run_here), RECORDED["smoke"]
    assert set(found) == set(recorded)
    for table, each in recorded.items():
        assert found[table]["shape"] == each["shape"]
        assert found[table]["sum"] == pytest.approx(each["sum"], rel=1e-5)
