"""Files and folders are written whole or not at all, and tables keep their names."""

from __future__ import annotations

import errno
import fcntl
import math
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis.strategies import characters, lists, one_of, sampled_from, text

from daedalus.runs.files import (
    cut_torn_line,
    locked,
    read_table,
    whole_lines,
    write_table,
    written_whole,
    written_whole_folder,
)
from tests.odd_names import ODD_NAMES


def test_a_file_appears_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "table.csv"
    with written_whole(path) as aside:
        aside.write_text("whole")
        assert not path.exists() and aside.suffix == ".csv"
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


def test_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(RuntimeError), written_whole(path) as aside:
        aside.write_text("ne")
        raise RuntimeError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_table_that_fails_leaves_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(frame: pd.DataFrame, path: Path, **options: object) -> None:
        path.write_text("designer,me")
        raise OSError(errno.ENOSPC, "No space left on device")

    write_table(pd.DataFrame({"designer": ["random"]}), tmp_path / "table.csv")
    monkeypatch.setattr(pd.DataFrame, "to_csv", half)
    with pytest.raises(OSError, match="No space"):
        write_table(pd.DataFrame({"designer": ["trained"]}), tmp_path / "table.csv")
    assert list(read_table(tmp_path / "table.csv")["designer"]) == ["random"]


def test_a_folder_appears_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "model"
    for content in ("first", "second"):
        with written_whole_folder(path) as aside:
            (aside / content).touch()
            assert not (path / content).exists()
        assert [each.name for each in path.iterdir()] == [content]
    assert list(path.parent.iterdir()) == [path]


def test_a_failed_folder_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.mkdir()
    with pytest.raises(RuntimeError), written_whole_folder(path) as aside:
        (aside / "part").touch()
        raise RuntimeError
    assert list(tmp_path.iterdir()) == [path] and not list(path.iterdir())


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_named_once(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def flock(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", flock)
    for _ in range(2):
        with locked(tmp_path, wait=False):
            pass
    assert caplog.text.count("no locks; let one process at a time use it") == 1


def test_one_process_at_a_time_holds_a_folder(tmp_path: Path) -> None:
    events: list[str] = []
    entered = Event()

    def second() -> None:
        entered.wait()
        with locked(tmp_path):
            events.append("second")

    with ThreadPoolExecutor(1) as pool:
        with locked(tmp_path):
            later = pool.submit(second)
            entered.set()
            with pytest.raises(TimeoutError):
                later.result(timeout=0.2)
            events.append("first")
        later.result()
    assert events == ["first", "second"]


@settings(max_examples=25, deadline=None)
@given(
    names=lists(
        one_of(sampled_from(ODD_NAMES), text(characters(codec="utf-8", exclude_characters="\0\r"))),
        min_size=1,
    )
)
def test_names_and_numbers_come_back_from_a_table(names: list[str]) -> None:
    numbers = [math.nan if len(name) % 2 else len(name) / 3 for name in names]
    table = pd.DataFrame({"designer": names, "my own": names, "mean": numbers})
    with TemporaryDirectory() as folder:
        write_table(table, Path(folder) / "table.csv")
        read = read_table(Path(folder) / "table.csv", "my own")
    assert list(read["designer"]) == list(read["my own"]) == names
    np.testing.assert_array_equal(read["mean"].to_numpy(float), numbers)


@pytest.mark.parametrize(
    ("content", "left"), [("", ""), ("a", ""), ("a\n", "a\n"), ("a\nb\u2028c", "a\n"), ("\n", "\n")]
)
def test_a_torn_line_is_cut(content: str, left: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    cut_torn_line(path)
    assert not path.exists()
    path.write_text(content, encoding="utf-8")
    assert whole_lines(path) == left.splitlines()
    cut_torn_line(path)
    assert path.read_text() == left


@pytest.mark.parametrize("text", ['=HYPERLINK("http://x")', "+1+1", "@SUM(A1)", "-a", "\t=1"])
def test_no_table_has_a_formula(tmp_path: Path, text: str) -> None:
    path = tmp_path / "table.csv"
    write_table(pd.DataFrame({"designer": [text, "-1.5", "plain"], text: [1, 2, 3]}), path)
    raw = path.read_text()
    assert f"'{text[:3]}" in raw and "'-1.5" not in raw and "'plain" not in raw
    assert list(read_table(path)["designer"]) == [text, "-1.5", "plain"]
