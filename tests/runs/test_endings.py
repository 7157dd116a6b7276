"""One sentence for whatever ends a command, and the traceback in a file."""

from __future__ import annotations

import errno
import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from tqdm import tqdm

from daedalus.checks import CannotRunError, doing
from daedalus.runs.endings import (
    command,
    described,
    heeding_signals,
    keep_traceback,
    release,
    unrecorded,
    wants_traceback,
)


def raised(error: Exception, *doings: str) -> Exception:
    """Return an error that was raised while something was done, the outermost last."""
    try:
        if not doings:
            raise error
        with doing(doings[0]):
            raise raised(error, *doings[1:])
    except Exception as caught:
        return caught


@pytest.mark.parametrize(
    ("error", "parts"),
    [
        (ZeroDivisionError("division\n by zero"), ["ZeroDivisionError: division by zero", "line "]),
        (KeyError(), ["KeyError (", __file__]),
        (CannotRunError("port: 80; give another"), ["port: 80; give another"]),
        (OSError(errno.ENOSPC, "No space left on device", "/out/a"), ["/out/a: No space", "free"]),
        (PermissionError(errno.EACCES, "Permission denied", "/out"), ["/out: ", "hydra.run.dir="]),
        (OSError("odd"), ["OSError: odd"]),
        (MemoryError(), ["the memory does not suffice; use a machine with more"]),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: 9 bytes"), ["fewer workers"]),
    ],
)
def test_an_error_is_one_line(error: Exception, parts: list[str]) -> None:
    told = described(raised(error, "designer mine failed"))
    assert told.startswith("designer mine failed: ") and "\n" not in told
    assert all(part in told for part in parts)
    assert ("DAEDALUS_TRACEBACK=1" in unrecorded(error)) != isinstance(error, CannotRunError)


def test_what_was_done_is_named_from_the_outside_in() -> None:
    assert described(raised(CannotRunError("x"), "population a", "designer b")) == (
        "population a: designer b: x"
    )


def test_the_traceback_is_kept_and_its_place_is_told(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("before\n")
    assert keep_traceback(raised(ValueError("x")), log) == f"The traceback is in {log}"
    assert log.read_text().startswith("before\nTraceback") and "ValueError: x" in log.read_text()
    told = keep_traceback(ValueError("x"), tmp_path / "gone" / "run.log")
    assert "DAEDALUS_TRACEBACK=1" in told and "No such file" in told


def test_progress_ends_with_the_frames_that_failed() -> None:
    ended = []

    def steps() -> Iterator[int]:
        with tqdm(total=2, file=open(os.devnull, "w"), disable=False) as bar:
            ended.append(bar)
            yield from [1, 2]

    def fail() -> None:
        progress = steps()
        for _ in progress:
            raise ValueError

    with pytest.raises(ValueError) as caught:
        fail()
    held = tqdm(total=1, file=open(os.devnull, "w"), disable=False)
    (bar,) = ended
    assert not bar.disable and not held.disable
    release(caught.value)
    assert bar.disable and held.disable  # as closed bars are


def test_a_traceback_is_shown_to_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not wants_traceback(["run.py", "seed=1"])
    assert wants_traceback(["run.py", "hydra.verbose=true"])
    monkeypatch.setenv("DAEDALUS_TRACEBACK", "1")
    assert wants_traceback([])


@pytest.fixture
def status() -> Iterator[list[int]]:
    """Return the statuses with which the process would have ended."""
    ended: list[int] = []

    def leave(number: int) -> None:
        ended.append(number)
        raise SystemExit(number)

    with patch("os._exit", leave):
        yield ended


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_block_with_a_sentence(
    number: signal.Signals, status: list[int], capfd: pytest.CaptureFixture[str]
) -> None:
    before = signal.getsignal(number)
    with pytest.raises(SystemExit), heeding_signals(lambda stop: f"stopped by {stop.number}\n"):
        signal.raise_signal(number)
    assert status == [128 + number] and capfd.readouterr().err == f"stopped by {int(number)}\n"
    assert signal.getsignal(number) is before


def test_a_second_signal_ends_the_process_at_once(
    status: list[int], capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit), heeding_signals(lambda stop: "stopped\n"):
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            signal.raise_signal(signal.SIGINT)
            raise AssertionError
    assert status == [143] and capfd.readouterr().err == "stopped\n"


def test_what_the_caller_ignores_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    with heeding_signals(lambda stop: ""):
        signal.raise_signal(signal.SIGINT)
    assert signal.signal(signal.SIGINT, before) is signal.SIG_IGN


def test_the_command_is_quoted_and_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["python", "run.py", "-m", "--config-dir", "my conf", "resume=false", "seed=range(0,2)"]
    monkeypatch.setattr(sys, "orig_argv", words)
    assert command() == "python run.py -m --config-dir 'my conf' 'seed=range(0,2)'"
    assert shlex.split(command("resume=true"))[2:] == [
        "-m", "--config-dir", "my conf", "seed=range(0,2)", "resume=true",
    ]  # fmt: skip


def test_an_error_after_a_signal_is_its_end(status: list[int]) -> None:
    """C code turns the stop into an error of its own."""
    with pytest.raises(SystemExit), heeding_signals(lambda stop: "stopped\n"):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError from None
    assert status == [130]


def test_a_missing_library_says_what_to_do() -> None:
    error = ModuleNotFoundError("No module named 'torch'", name="torch.nn")
    told = unrecorded(raised(error, "designer mine failed"))
    assert told.startswith(f"designer mine failed: {sys.executable} has no library torch.nn; run `")
    assert "TRACEBACK" not in told
