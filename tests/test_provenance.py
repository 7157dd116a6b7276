"""What a run leaves of itself: its configuration, its launches, and that it finished."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from omegaconf import DictConfig, OmegaConf

from daedalus.config import ConfigError
from daedalus.provenance import provenance, run_record
from daedalus.run_folder import RunFolder


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


def test_a_failed_run_is_not_finished_and_goes_on_when_it_is_resumed(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    with pytest.raises(RuntimeError), run_record(composed(), tmp_path):
        raise RuntimeError
    assert not run.finished.exists()
    with run_record(composed(resume=True), tmp_path) as out:
        assert out == tmp_path
    assert len(json.loads(run.provenance.read_text())) == 2


def test_a_finished_run_has_nothing_to_resume(tmp_path: Path) -> None:
    with run_record(composed(), tmp_path):
        pass
    with run_record(composed(resume=True), tmp_path) as out:
        assert out is None


def test_a_run_of_another_configuration_is_not_resumed(tmp_path: Path) -> None:
    with run_record(composed(), tmp_path):
        pass
    with pytest.raises(ConfigError, match=r"seed: 0.* resume"), run_record(composed(1), tmp_path):
        pass
    assert "seed: 0" in RunFolder(tmp_path).config.read_text()


def test_the_record_names_the_command_and_the_commit() -> None:
    record = provenance()
    assert set(record) == {
        "commit", "uncommitted_changes", "command", "python", "platform", "packages",
    }  # fmt: skip
    assert "pytest" in str(record["command"])
