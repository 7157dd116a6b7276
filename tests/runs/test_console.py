"""The console shows every text as it is, and is wide in a log."""

from __future__ import annotations

import pytest

from daedalus.runs.console import make_console


def test_a_text_is_shown_as_it_is_on_one_wide_line(capsys: pytest.CaptureFixture[str]) -> None:
    console = make_console()
    console.print("[bold]lr=[a,b] a[/b]c :smile:")
    assert capsys.readouterr().out == "[bold]lr=[a,b] a[/b]c :smile:\n"
    assert console.width == 170
