"""A machine without Node.js, Chromium, HAProxy and Slurm: a folder with other programs plays it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.programs import BROWSER, HAPROXY, NODE, PROGRAMS, SLURM

ROOT = Path(__file__).parents[1]
NEED_PROGRAMS = [
    "tests/service/http/test_proxy.py",
    "tests/service/page/static/test_bid_report.py",
    "tests/test_launchers.py::test_a_job_that_fails_leaves_the_others[slurm]",
    "tests/design/language/test_qwen_tokens.py",
]
RUNS = "tests/test_checks.py"
INSTALL = (
    "To run them, as root on Debian or Ubuntu: apt-get update && apt-get install -y "
    "--no-install-recommends chromium-headless-shell nodejs npm haproxy slurm-wlm munge"
)
COMPLETE = {"DAEDALUS_LEAVE_OUT": "nothing"}
STAND_IN = """#!/bin/sh
case "$*" in
  *tests.left_out*|*tests.programs*) cd {root} && exec {python} "$@";;
  *" -n 0 "*) cd {root} && exec {python} -m pytest -q -n 0 -m "" {tests};;
esac
"""
"""Plays Python: it answers what is tested here, runs few tests, and does nothing else."""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the environment of a machine that lacks the programs."""
    place = tmp_path_factory.mktemp("machine") / "bin"
    place.mkdir()
    absent = {name for each in PROGRAMS.values() for names in each.commands for name in names}
    for folder in os.environ["PATH"].split(os.pathsep):
        for program in Path(folder).glob("*"):
            if program.name not in absent and not (place / program.name).exists():
                (place / program.name).symlink_to(program)
    own = ("DAEDALUS_LEFT_OUT", "DAEDALUS_LEAVE_OUT", "PYTEST_ADDOPTS")
    kept = {name: value for name, value in os.environ.items() if name not in own}
    return {name: value for name, value in kept.items() if "XDIST" not in name} | {
        "PATH": str(place)
    }


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Return a folder with the Makefile and stand-ins for the environment."""
    programs = tmp_path / ".venv" / "bin"
    programs.mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", tmp_path)
    tests = " ".join([RUNS, *NEED_PROGRAMS])
    for name in ("python", "hadolint", "lint-imports"):
        text = STAND_IN.format(
            root=ROOT, python=sys.executable, tests=f"'{tests}'".replace(" ", "' '")
        )
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return tmp_path


def make(target: str, checkout: Path, environment: dict[str, str]) -> tuple[int, list[str]]:
    """Return the status of `make` and its last lines."""
    answer = subprocess.run(
        ["make", "--silent", "-o", "setup", target],
        cwd=checkout,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    return answer.returncode, answer.stdout.splitlines()


@pytest.mark.slow
def test_make_test_passes_what_can_and_names_the_rest(checkout: Path, bare: dict[str, str]) -> None:
    status, lines = make("test", checkout, bare)
    assert status == 0, lines
    assert " passed, " in "".join(lines)
    begin = max(number for number, line in enumerate(lines) if line.startswith("Left out: "))
    *named, last = lines[begin + 1 :]
    reasons = {
        line.partition(": ")[2]: line.partition(" of ")[2].partition(":")[0] for line in named
    }
    assert reasons == {
        f"{program.name} is not installed": file.partition("::")[0]
        for program, file in zip((HAPROXY, BROWSER, SLURM, NODE), NEED_PROGRAMS, strict=True)
    }
    assert last == INSTALL


def test_make_test_stops_at_once_where_nothing_may_be_left_out(
    checkout: Path, bare: dict[str, str]
) -> None:
    status, lines = make("test", checkout, bare | COMPLETE)
    assert status != 0 and "HAProxy is not installed" in lines and INSTALL in lines
    assert "passed" not in "".join(lines)


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, COMPLETE])
def test_make_check_names_what_it_left_out(
    more: dict[str, str], checkout: Path, bare: dict[str, str]
) -> None:
    status, lines = make("check", checkout, bare | more)
    assert (status != 0) == bool(more), lines
    assert lines[0] == "Left out: 2 checks."
    assert lines[1] == "  lint and types of the page's scripts: Node.js with npm is not installed"
    assert lines[2].endswith("install -y --no-install-recommends nodejs npm")


@pytest.mark.slow
def test_a_test_that_is_left_out_fails_where_nothing_may_be(bare: dict[str, str]) -> None:
    skipped = NEED_PROGRAMS[-1]  # the quickest to import
    chosen = [skipped, RUNS, "-m", "", "-n", "1"]
    command = [sys.executable, "-m", "pytest", "-q", *chosen]
    environment = bare | COMPLETE
    answer = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert answer.returncode == 1, answer.stdout
    assert f"1 test of {skipped}: Node.js with npm is not installed" in answer.stdout
