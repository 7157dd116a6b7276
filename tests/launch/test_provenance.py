"""What a run leaves of itself: its configuration, its launches, and that it finished."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pandas as pd
import pytest
from omegaconf import DictConfig, OmegaConf

from daedalus.checks import CannotRunError
from daedalus.launch.config.jobs import Launch, read_launch
from daedalus.launch.config.mistakes import ConfigError
from daedalus.launch.provenance import provenance, refusal_record, run_record
from daedalus.runs.folder import RunFolder


def composed(seed: int = 0, resume: bool = False) -> DictConfig:
    return OmegaConf.create({"seed": seed, "resume": resume, "name": "run ${seed}"})


def test_a_run_leaves_its_resolved_configuration_and_its_launch(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    with run_record(composed(), tmp_path) as out:
        assert out == tmp_path
        assert not run.finished.exists()
    assert run.finished.exists()
    assert run.config.read_text() == "seed: 0\nname: run 0\n"
    (launch,) = json.loads(run.provenance.read_text())
    assert launch["packages"]["numpy"] and launch["python"].startswith("3.")
    assert 0 <= launch["seconds"] < 60 and datetime.fromisoformat(launch["started"])


def test_a_failed_run_is_not_finished_and_goes_on_when_it_is_resumed(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    with pytest.raises(RuntimeError), run_record(composed(), tmp_path):
        raise RuntimeError("no room")
    assert not run.finished.exists()
    with run_record(composed(resume=True), tmp_path) as out:
        assert out == tmp_path
    failed, resumed = json.loads(run.provenance.read_text())
    assert failed["error"] == "RuntimeError: no room" and "error" not in resumed
    assert "seconds" in failed and "seconds" in resumed


def test_two_processes_never_work_on_the_same_run(tmp_path: Path) -> None:
    with (
        run_record(composed(), tmp_path),
        pytest.raises(CannotRunError, match="another process is at work on this run"),
        run_record(composed(resume=True), tmp_path),
    ):
        pass
    assert RunFolder(tmp_path).finished.exists()
    with run_record(composed(resume=True), tmp_path) as out:
        assert out is None


def test_a_run_goes_on_with_another_number_of_workers(tmp_path: Path) -> None:
    one, two = (OmegaConf.create({"seed": 0, "workers": count}) for count in (1, 2))
    with pytest.raises(RuntimeError), run_record(one, tmp_path):
        raise RuntimeError("no room")
    assert OmegaConf.load(tmp_path / "config.yaml") == one
    with run_record(two, tmp_path) as out:
        assert out == tmp_path


def test_a_run_of_another_configuration_is_not_resumed(tmp_path: Path) -> None:
    with run_record(composed(), tmp_path):
        pass
    with pytest.raises(ConfigError, match=r"seed: 0.* resume"), run_record(composed(1), tmp_path):
        pass
    assert "seed: 0" in RunFolder(tmp_path).config.read_text()


def test_a_run_is_resumed_by_as_many_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(RuntimeError), run_record(composed(), tmp_path):
        raise RuntimeError("no room")
    for name, value in {"LOCAL_RANK": "0", "RANK": "0", "WORLD_SIZE": "2"}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=r"with 1 processes, and this launch has 2; launch 1"):
        with run_record(composed(resume=True), tmp_path):
            pass


def test_the_record_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["/a/run.py", "+experiment=smoke", "trained=a folder"])
    record = provenance()
    assert set(record) == {
        "commit", "uncommitted_changes", "command", "started", "python", "platform", "cores",
        "processes", "gpus", "packages",
    }  # fmt: skip
    assert record["command"] == "run.py +experiment=smoke 'trained=a folder'"


def test_the_record_names_the_commit_and_changes_since() -> None:
    record = provenance()
    folder = Path(__file__).parent
    asked = ["git", "rev-parse", "HEAD"]
    answer = subprocess.run(asked, cwd=folder, capture_output=True, text=True)
    expected = answer.stdout.strip() if answer.returncode == 0 else None
    assert record["commit"] == expected
    known = bool if expected else type(None)
    assert isinstance(record["uncommitted_changes"], known)


def test_a_copy_in_another_checkout_has_no_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "other"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    monkeypatch.setattr("daedalus.launch.provenance.__file__", str(tmp_path / "provenance.py"))
    record = provenance()
    assert record["commit"] is None and record["uncommitted_changes"] is None


def test_a_run_whose_folder_was_removed_is_not_finished(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with pytest.raises(CannotRunError, match="was removed during the run"):
        with run_record(composed(), out):
            shutil.rmtree(out)
    assert not RunFolder(out).finished.exists()


def test_without_git_the_commit_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    record = provenance()
    assert record["commit"] is None and record["uncommitted_changes"] is None
    assert record["gpus"] == []


def test_the_record_names_every_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\necho NVIDIA L4; echo NVIDIA A10G\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert provenance()["gpus"] == ["NVIDIA L4", "NVIDIA A10G"]


@pytest.mark.parametrize("sweep", [True, False])
def test_each_job_of_a_sweep_renews_the_tables(
    sweep: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    collected: list[Path] = []
    monkeypatch.setattr("daedalus.launch.provenance.collect_sweep", collected.append)
    launch = Launch(["seed=0"], number=3, place="a/b") if sweep else Launch(["seed=0"])
    with run_record(composed(), tmp_path / "a" / "b", launch):
        assert not collected
        assert not sweep or pd.read_csv(tmp_path / "jobs.csv")["state"].tolist() == ["unfinished"]
    assert collected == ([tmp_path] if sweep else [])
    assert read_launch(tmp_path / "a" / "b") == launch


@pytest.mark.parametrize("sweep", [True, False])
def test_a_sweep_records_a_job_whose_configuration_is_refused(sweep: bool, tmp_path: Path) -> None:
    launch = Launch(["evaluation.episodes=0"], number=0, place="0" if sweep else "")
    (tmp_path / "0").mkdir()
    with pytest.raises(ConfigError, match="episodes: 0"), refusal_record(tmp_path / "0", launch):
        raise ConfigError("episodes: 0; give an integer from 2 up")
    assert (tmp_path / "jobs.csv").exists() == sweep
    if sweep:
        (job,) = pd.read_csv(tmp_path / "jobs.csv").to_dict("records")
        assert job["state"] == "failed" and "episodes: 0" in job["error"]
