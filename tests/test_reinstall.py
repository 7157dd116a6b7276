"""make setup: it says why it installs the requirements again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def made(folder: Path) -> str:
    command = ["make", "--no-print-directory", "setup", f"PYTHON={sys.executable}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_second_setup_names_the_requirements_that_changed(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in ("requirements.txt", "requirements-dev.txt"):
        (tmp_path / name).write_text("")  # nothing to install
    assert "again" not in made(tmp_path)
    assert "again" not in made(tmp_path)
    later = (tmp_path / ".venv" / "installed").stat().st_mtime + 5
    os.utime(tmp_path / "requirements.txt", (later, later))
    told = made(tmp_path).splitlines()
    said = "make installs the requirements again, since these are newer than .venv: "
    assert told[0] == f"{said}requirements.txt"
