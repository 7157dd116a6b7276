"""metrics.jsonl, rewinding it, and the mode of Weights & Biases."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest
import wandb

from daedalus.runs import tracking
from daedalus.runs.tracking import Tracker, TrackingSettings, watched

LIBRARY = ("init", "Table", "Image")
"""What the library offers; the rest belongs to a run of it."""


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


@pytest.fixture
def no_login(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WANDB_API_KEY", "WANDB_MODE", "WANDB_DISABLED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    wandb.teardown()  # forgets the key of another test


@pytest.mark.usefixtures("no_login")
def test_wandb_is_online_for_who_has_a_key_or_has_logged_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert TrackingSettings().mode == "offline"
    host = wandb.setup().settings.base_url.partition("//")[2]
    (tmp_path / "netrc").write_text(f"machine {host}\n  login user\n  password {'a' * 40}\n")
    (tmp_path / "netrc").chmod(0o600)
    assert TrackingSettings().mode == "online"
    (tmp_path / "netrc").unlink()
    monkeypatch.setenv("WANDB_API_KEY", "key")
    assert TrackingSettings().mode == "online"
    with pytest.raises(ValueError, match="auto, online, offline, disabled"):
        TrackingSettings(wandb="maybe")


@pytest.mark.usefixtures("no_login")
@pytest.mark.parametrize(
    ("variable", "value", "mode"),
    [
        ("WANDB_MODE", "disabled", "disabled"),
        ("WANDB_MODE", "offline", "offline"),
        ("WANDB_MODE", "dryrun", "dryrun"),  # W&B's old name of offline
        ("WANDB_DISABLED", "true", "disabled"),
    ],
)
def test_wandb_heeds_its_variables_unless_a_setting_says_otherwise(
    variable: str,
    value: str,
    mode: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "key")
    monkeypatch.setenv(variable, value)
    assert TrackingSettings().mode == mode and not caplog.text
    assert TrackingSettings(wandb="online").mode == "online"
    assert f"tracking.wandb=online wins over W&B's variables: {mode}" in caplog.text


def test_a_project_of_the_environment_that_is_not_taken_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(wandb, "init", Mock())
    monkeypatch.setenv("WANDB_PROJECT", "auctions")
    with Tracker(TrackingSettings(wandb="offline"), tmp_path, "name", {}):
        assert "tracking.project=daedalus wins over WANDB_PROJECT: auctions" in caplog.text


@pytest.mark.parametrize("failing", ["init", "log", "define_metric", "finish", "Table", "Image"])
def test_a_failure_of_wandb_never_ends_a_run(
    failing: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    run = Mock()
    for name in LIBRARY:
        monkeypatch.setattr(wandb, name, Mock(return_value=run))
    broken = Mock(side_effect=wandb.errors.CommError("no\nroute to host"))
    monkeypatch.setattr(wandb if failing in LIBRARY else run, failing, broken)
    with Tracker(TrackingSettings(wandb="online"), tmp_path, "name", {}) as log:
        log.log("grpo", 1, {"reward": 0.5})
        log.table("summary", pd.DataFrame({"mean": [0.3]}))
        log.image("boxplot", tmp_path / "figure.png")
        log.log("grpo", 2, {"reward": 0.6})
    assert [each["step"] for each in log.history("grpo")] == [1, 2]
    assert caplog.text.count("W&B failed") == 1 and "no route to host" in caplog.text


def test_a_run_needs_no_wandb(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with Tracker(TrackingSettings(wandb="offline"), tmp_path, "name", {}) as log:
        log.log("grpo", 1, {"reward": 0.5})
    assert len(log.history("grpo")) == 1 and "keeps its files only" in caplog.text


@pytest.mark.slow
def test_a_key_without_a_network_leaves_the_run_with_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("WANDB_API_KEY", "a" * 40)
    monkeypatch.setenv("WANDB_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setattr(tracking, "_START", 3.0)
    with Tracker(TrackingSettings(wandb="online"), tmp_path, "name", {}) as log:
        log.log("grpo", 1, {"reward": 0.5})
    assert len(log.history("grpo")) == 1 and "keeps its files only" in caplog.text


@pytest.mark.slow
@pytest.mark.usefixtures("no_login")
def test_offline_run_keeps_table_and_image(tmp_path: Path) -> None:
    from matplotlib.figure import Figure

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
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    tracker(tmp_path).log("sft", 1, {"loss": 2.0})
    request.getfixturevalue("two")
    with Tracker(TrackingSettings(wandb="offline"), tmp_path, "name", {}) as other:
        other.log("sft", 2, {"loss": 1.0})
        other.rewind("sft", 0)
    assert other.history("sft") == [{"step": 1, "loss": 2.0}]
    assert [path.name for path in tmp_path.iterdir()] == ["metrics.jsonl"]
