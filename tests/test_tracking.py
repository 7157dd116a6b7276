"""metrics.jsonl, rewinding it, and the mode of Weights & Biases."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from daedalus.tracking import Tracker, TrackingSettings, watched


def tracker(out: Path) -> Tracker:
    return Tracker(TrackingSettings(wandb="disabled"), out, "name", {})


def test_history_is_kept_by_phase(tmp_path: Path) -> None:
    log = tracker(tmp_path)
    log.log("sft", 1, {"loss": 2.0})
    log.log("grpo", 1, {"reward": 0.5})
    assert log.history("grpo") == [{"step": 1, "reward": 0.5}]
    assert tracker(tmp_path).history("sft") == [{"step": 1, "loss": 2.0}]


def test_rewind_forgets_later_steps_of_one_phase_and_a_cut_line(tmp_path: Path) -> None:
    log = tracker(tmp_path)
    for step in range(1, 6):
        log.log("sft", step, {"loss": float(step)})
        log.log("grpo", step, {"loss": float(step)})
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"phase": "grpo", "st')
    log.rewind("grpo", 3)
    assert [each["step"] for each in log.history("grpo")] == [1, 2, 3]
    assert len(log.history("sft")) == 5


def test_a_record_is_not_glued_to_one_that_was_cut(tmp_path: Path) -> None:
    tracker(tmp_path).log("sft", 1, {"loss": 2.0})
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write('{"phase": "sft", "st')
    again = tracker(tmp_path)
    again.log("sft", 2, {"loss": 1.0})
    assert [each["step"] for each in again.history("sft")] == [1, 2]


def test_a_watcher_sees_each_record_of_its_block(tmp_path: Path) -> None:
    log, seen = tracker(tmp_path), []

    def watch(which: Tracker, phase: str, step: int) -> None:
        seen.append((phase, step, which.history(phase)[-1]["loss"]))

    with watched(watch):
        log.log("sft", 1, {"loss": 2.0})
        log.log("grpo", 7, {"loss": 0.5})
    log.log("grpo", 8, {"loss": 0.4})
    assert seen == [("sft", 1, 2.0), ("grpo", 7, 0.5)]


def test_wandb_is_offline_without_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    assert TrackingSettings().mode == "offline"
    monkeypatch.setenv("WANDB_API_KEY", "key")
    assert TrackingSettings().mode == "online"
    with pytest.raises(ValueError, match="auto, online, offline, disabled"):
        TrackingSettings(wandb="maybe")


@pytest.mark.slow
def test_offline_run_keeps_table_and_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.figure import Figure

    monkeypatch.delenv("WANDB_API_KEY", raising=False)
    with Tracker(TrackingSettings(), tmp_path, "name", {"seed": 0}) as log:
        log.log("grpo", 1, {"reward": 0.5})
        log.table("summary", pd.DataFrame({"designer": ["random"], "mean": [0.3]}))
        log.table("levels", pd.DataFrame({"setting": [0.5, "vcg", None]}))
        Figure().savefig(tmp_path / "figure.png")
        log.image("boxplot", tmp_path / "figure.png")
    assert len(list(tmp_path.glob("wandb/offline-run-*/*.wandb"))) == 1
    media = [path.name for path in tmp_path.glob("wandb/offline-run-*/files/media/*/*")]
    assert any(name.startswith("summary") for name in media)
    assert any(name.startswith("levels") for name in media)
    assert any(name.startswith("boxplot") for name in media)


def test_of_several_processes_only_the_main_one_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker(tmp_path).log("sft", 1, {"loss": 2.0})
    for name, value in {"LOCAL_RANK": "1", "RANK": "1", "WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    with Tracker(TrackingSettings(wandb="offline"), tmp_path, "name", {}) as other:
        other.log("sft", 2, {"loss": 1.0})
        other.rewind("sft", 0)
    assert other.history("sft") == [{"step": 1, "loss": 2.0}]
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.jsonl"]
