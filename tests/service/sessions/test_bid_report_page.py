"""A visitor's name of a log becomes a file's name, whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from daedalus.service.sessions.bid_report_page import file_stem


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("Sales 2024", "Sales 2024"),
        ("lots-of_2024.final", "lots-of_2024 final"),
        ("../../etc/passwd", "etc passwd"),
        ("Köln", "Köln"),
        ("..", "bids"),
        ("", "bids"),
    ],
)
def test_a_name_becomes_a_file_in_the_folder(name: str, stem: str) -> None:
    assert file_stem(name) == stem


def test_any_name_can_be_written(tmp_path: Path) -> None:
    for name in ("\0/", "長" * 300, "a\nb", "=1+1|x"):
        path = tmp_path / f"{file_stem(name)}.csv"
        path.write_text("")
        assert path.parent == tmp_path and path.is_file()
