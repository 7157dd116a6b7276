"""Files and folders are written whole or not at all."""

from __future__ import annotations

import errno
import fcntl
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from daedalus.files import locked, written_whole, written_whole_folder


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
