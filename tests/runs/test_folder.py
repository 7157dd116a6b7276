"""The files of a run have one name each, and the newest run and model are found."""

from __future__ import annotations

import os
from pathlib import Path

from daedalus.runs.folder import RunFolder, files_below, newest_model, newest_run

NAMES = [name for name, value in vars(RunFolder).items() if isinstance(value, property)]


def leave(path: Path, age: int) -> Path:
    """Make a file that is as old as given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (1e9 - age, 1e9 - age))
    return path


def test_every_file_is_below_the_folder_and_has_its_own_name(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    paths = [getattr(run, name) for name in NAMES] + [
        run.checkpoints("sft"),
        run.checkpoints("grpo"),
    ]
    assert len(set(paths)) == len(paths) > 10
    assert all(path.is_relative_to(tmp_path) for path in paths)
    assert run.distillation_data.name == "distillation_data.npz"


def test_the_newest_model_is_found_at_any_depth(tmp_path: Path) -> None:
    assert newest_model(tmp_path) is None
    leave(tmp_path / "a" / "model" / "prompt.json", age=20)
    newest = leave(tmp_path / "sweeps" / "b" / "0" / "model" / "prompt.json", age=10)
    leave(tmp_path / "c" / "sft_model" / "prompt.json", age=0)  # it is not what a run trained
    leave(tmp_path / "d" / "model" / "config.json", age=0)  # it was cut short
    assert newest_model(tmp_path) == newest.parent


def test_links_below_outputs_are_followed_and_loops_end(tmp_path: Path) -> None:
    outputs, scratch = tmp_path / "outputs", tmp_path / "scratch"
    newest = leave(scratch / "run" / "model" / "prompt.json", age=0)
    leave(scratch / "run" / "training_history.json", age=0)
    outputs.mkdir()
    (outputs / "NAME").symlink_to(scratch)
    (scratch / "run" / "again").symlink_to(outputs)
    (scratch / "nowhere").symlink_to(tmp_path / "gone")
    assert newest_model(outputs) == outputs / "NAME" / newest.relative_to(scratch).parent
    assert newest_run(outputs) == RunFolder(outputs / "NAME" / "run")
    assert len(list(files_below(outputs, "prompt.json"))) == 1


def test_the_newest_run_is_one_that_logged_its_training(tmp_path: Path) -> None:
    assert newest_run(tmp_path) is None
    leave(tmp_path / "a" / "training_history.json", age=20)
    leave(tmp_path / "b" / "training_history.json", age=10)
    leave(tmp_path / "c" / "metrics.jsonl", age=0)
    assert newest_run(tmp_path) == RunFolder(tmp_path / "b")
