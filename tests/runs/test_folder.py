"""The files of a run have one name each, and are found at any depth."""

from __future__ import annotations

import os
from pathlib import Path

from daedalus.runs.folder import RunFolder, files_below, newest_first


def leave(path: Path, age: int) -> Path:
    """Make a file that is as old as given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.utime(path, (1e9 - age, 1e9 - age))
    return path


def test_every_file_is_below_the_folder_and_has_its_own_name(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    values = [getattr(run, name) for name in vars(RunFolder) if name[0] != "_"]
    named = [value for value in values if isinstance(value, Path)]
    paths = [*named, run.checkpoints("sft"), run.checkpoints("grpo")]
    assert len(set(paths)) == len(paths) > 10
    assert all(path.is_relative_to(tmp_path) for path in paths)
    assert run.distillation_data.name == "distillation_data.npz"


def test_links_are_followed_and_loops_end(tmp_path: Path) -> None:
    outputs, scratch = tmp_path / "outputs", tmp_path / "scratch"
    found = leave(scratch / "run" / "model" / "prompt.json", age=0)
    outputs.mkdir()
    (outputs / "NAME").symlink_to(scratch)
    (scratch / "run" / "again").symlink_to(outputs)
    (scratch / "nowhere").symlink_to(tmp_path / "gone")
    paths = list(files_below(outputs, "prompt.json"))
    assert paths == [outputs / "NAME" / found.relative_to(scratch)]


def test_files_are_ordered_by_their_age(tmp_path: Path) -> None:
    ages = {name: leave(tmp_path / name, age) for name, age in (("a", 2), ("b", 0), ("c", 1))}
    assert newest_first(ages.values()) == [ages["b"], ages["c"], ages["a"]]
