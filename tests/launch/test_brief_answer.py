"""The words of a brief, which may stand in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from daedalus.checks import CannotRunError
from daedalus.launch.brief_answer import brief_text


@pytest.mark.parametrize("brief", ["We need money. " * 100, "money" * 100])
def test_a_long_brief_is_no_path(brief: str) -> None:
    assert brief_text(brief) == brief


def test_a_brief_in_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "brief.txt"
    path.write_text("We need money.\n")
    assert brief_text(str(path)) == "We need money.\n"
    path.write_text(" ")
    with pytest.raises(CannotRunError, match=r"brief\.txt is empty"):
        brief_text(str(path))
