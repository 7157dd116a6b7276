"""Files are written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from daedalus.files import written_whole


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
