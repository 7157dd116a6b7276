"""What a run of the tests left out, because this machine lacks something, and what to install.

    python -m tests.left_out tests FILE   # what runs of pytest noted in a file
    python -m tests.left_out check        # what `make check` left out
    python -m tests.left_out nothing      # refuses to begin where something would be left out

``DAEDALUS_LEFT_OUT`` names the file for notes. With ``DAEDALUS_LEAVE_OUT=nothing``, as in CI,
whatever is left out is a failure.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.programs import NODE, PROGRAMS, install

ELSEWHERE = "tested elsewhere: "
"""Begins the reason of a skip that is no gap: another target or another machine has the test."""

Tests = Mapping[tuple[str, str], int]
"""How many tests were left out, by reason and file."""


def complete() -> bool:
    """Return whether nothing may be left out."""
    wish = os.environ.get("DAEDALUS_LEAVE_OUT", "")
    if wish not in ("", "nothing"):
        sys.exit(f"DAEDALUS_LEAVE_OUT={wish}: write nothing, or unset it")
    return wish == "nothing"


class LeftOut:
    """Counts the tests that a run leaves out, and names them at its end."""

    def __init__(self) -> None:
        self.tests: Counter[tuple[str, str]] = Counter()
        self.complete = complete()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test that was skipped for want of something."""
        if report.skipped and isinstance(report.longrepr, tuple):
            reason = report.longrepr[2].removeprefix("Skipped: ")
            if not reason.startswith(ELSEWHERE):
                self.tests[reason, report.nodeid.partition("::")[0]] += 1

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Note what was left out, and fail if nothing may be."""
        if notes := os.environ.get("DAEDALUS_LEFT_OUT"):
            Path(notes).parent.mkdir(exist_ok=True)
            with Path(notes).open("a") as file:
                file.writelines(
                    json.dumps([*what, count]) + "\n" for what, count in self.tests.items()
                )
        if self.tests and self.complete and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was left out."""
        for line in lines_of(self.tests):
            terminalreporter.write_line(line)


def lines_of(tests: Tests) -> list[str]:
    """Return what to tell about tests that were left out; nothing if there are none."""
    if not tests:
        return []
    lines = [f"Left out: {counted(sum(tests.values()))}."]
    for reason in sorted({reason for reason, _ in tests}):
        files = {file: count for (why, file), count in tests.items() if why == reason}
        lines.append(f"  {counted(sum(files.values()))} of {', '.join(sorted(files))}: {reason}")
    return lines + remedy({reason for reason, _ in tests})


def counted(tests: int) -> str:
    return "1 test" if tests == 1 else f"{tests} tests"


def remedy(reasons: set[str]) -> list[str]:
    """Return how to get what is absent: a command, if programs are."""
    absent = [each for each in PROGRAMS.values() if each.absence in reasons]
    lines = [f"To run them, as root on Debian or Ubuntu: {install(absent)}"] if absent else []
    return lines + ["DAEDALUS_LEAVE_OUT=nothing makes this a failure."] * complete()


def read(notes: Path) -> Tests:
    """Return what several runs noted in a file; nothing if there is no file."""
    tests: Counter[tuple[str, str]] = Counter()
    for line in notes.read_text().splitlines() if notes.exists() else []:
        reason, file, count = json.loads(line)
        tests[reason, file] += count
    return tests


def of_check() -> list[str]:
    """Return what ``make check`` leaves out here."""
    if not NODE.absence:
        return []
    left = f"  lint and types of the page's scripts: {NODE.absence}"
    return ["Left out: 2 checks.", left, *remedy({NODE.absence})]


def beforehand() -> list[str]:
    """Return what stops a run in which nothing may be left out."""
    absent = {each.absence for each in PROGRAMS.values()} - {""}
    return [*sorted(absent), *remedy(absent)] if absent and complete() else []


def main(what: str, *notes: str) -> int:
    """Print what was left out; 0 if that is allowed."""
    kinds = {"check": of_check, "nothing": beforehand}
    lines = lines_of(read(Path(*notes))) if what == "tests" else kinds[what]()
    print(*lines, sep="\n", end="\n" * bool(lines))
    return int(bool(lines) and complete())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
