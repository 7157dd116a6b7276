"""The newest run: a run that comes later is found."""

from __future__ import annotations

import json
import math
import os
import shutil
from pathlib import Path

from daedalus.runs.folder import RunFolder
from daedalus.service.page.newest_run import NewestRun


def leave_run(outputs: Path, name: str, written: int) -> Path:
    run = outputs / name
    (run / "figures").mkdir(parents=True)
    history = run / "training_history.json"
    history.write_text(json.dumps([{"step": 1, "reward": 0.5, "entropy": math.nan}]))
    (run / "figures" / "curves.png").write_bytes(b"picture")
    (run / "config.yaml").write_text("secret: 1")
    os.utime(history, (written, written))
    return run


def test_a_run_that_comes_later_is_found_and_a_deleted_one_is_not(
    tmp_path: Path,
) -> None:
    now = [0.0]
    newest = NewestRun(tmp_path, clock=lambda: now[0])
    assert newest.run() is None
    run = leave_run(tmp_path, "grpo/1", 1_000)
    now[0] = 60.0
    assert newest.run() == RunFolder(run) and set(newest.files()) == {
        "curves.png",
        "training_history.json",
    }
    shutil.rmtree(run)
    assert newest.name is None and newest.history() == []


def test_the_scores_are_those_of_the_runs_own_evaluation(tmp_path: Path) -> None:
    run = leave_run(tmp_path, "grpo/1", 1_000)
    assert NewestRun(tmp_path).scores() == []
    rows = [["designer", "mean", "mean_low", "mean_high"], ["trained", "0.4", "0.3", "0.5"]]
    (run / "summary.csv").write_text("\n".join(",".join(row) for row in rows))
    found = NewestRun(tmp_path).scores()
    assert [each.model_dump() for each in found] == [
        {"designer": "trained", "mean": 0.4, "low": 0.3, "high": 0.5}
    ]
    other = [[*row, last] for row, last in zip(rows, ("composite", "0.2"), strict=True)]
    (run / "summary.csv").write_text("\n".join(",".join(row) for row in other))
    assert NewestRun(tmp_path).scores() == []  # their means are not of R
    (run / "summary.csv").write_text("seed,mean\n1,0.4\n")  # the table of a sweep
    assert NewestRun(tmp_path).scores() == []
