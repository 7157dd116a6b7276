"""Signals of training are written as a table."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from daedalus.runs.folder import RunFolder
from daedalus.training.trainer_logs import write_history
from tests.training.conftest import make_tracker


def test_the_history_of_a_phase_is_written_as_json_and_csv(tmp_path: Path) -> None:
    with make_tracker(tmp_path) as tracker:
        for step in (1, 2):
            tracker.log("grpo", step, {"reward": 0.1 * step, "loss": 0.5})
        tracker.log("sft", 1, {"loss": 2.0})
        history = write_history(tracker, "grpo", RunFolder(tmp_path))
    assert history["step"].tolist() == [1, 2]
    records = json.loads((tmp_path / "training_history.json").read_text())
    assert [record["reward"] for record in records] == [0.1, 0.2]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "training_history.csv"), history)
