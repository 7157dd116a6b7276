"""A command that says nothing for a while says that it is at work."""

from __future__ import annotations

import time

import pytest

from daedalus.runs import waiting
from daedalus.runs.waiting import breaking_silence, heard


@pytest.mark.parametrize("silent", [True, False])
def test_only_silence_is_broken(
    silent: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(waiting, "SILENCE", 0.05)
    with breaking_silence("at work ..."):
        if not silent:
            heard()
        time.sleep(0.5)
    assert capfd.readouterr().err == ("at work ...\n" if silent else "")
