"""Kernels are loaded from a cache on disk, which notices every edit of the package."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import daedalus

pytestmark = pytest.mark.slow

SCRIPT = """
import json
import numpy as np
from daedalus.market import composition

cached = composition._draw_factors._cache.holds_code()
factors = composition.individual_factors(np.arange(3, dtype=np.uint64), np.full((3, 2), 2.0), 0)
stats = composition._draw_factors.stats
hits = sum(stats.cache_hits.values())
assert cached == (hits > 0)
kept = composition._draw_factors._cache.holds_code()
print(json.dumps([factors.tolist(), hits, stats.cache_path, kept]))
"""
"""Run a kernel that takes its draws from draws.py."""

TOLD = "Compiling the market, once; this takes up to a minute on two idle cores ..."


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return the folder of a copy of the package."""
    market = tmp_path / "code" / "daedalus" / "market"
    source = Path(*daedalus.__path__) / "market"
    shutil.copytree(source, market, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(source.with_name("checks.py"), market.parent)
    return market


def run(
    copy: Path, *before: str, keeps: bool = True, **environment: str
) -> tuple[list[list[float]], int, Path]:
    """Return what the kernel gives, whether it was loaded from the cache, and from where."""
    inherited = {name: each for name, each in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [*before, sys.executable, "-B", "-c", SCRIPT],
        env=inherited | {"PYTHONPATH": str(copy.parents[1])} | environment,
        cwd=copy.parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    factors, hits, folder, kept = json.loads(done.stdout)
    assert kept == keeps
    assert done.stderr.count(TOLD) == (not hits), done.stderr  # before it compiles, if it does
    return factors, hits, Path(folder)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


def test_an_edit_of_a_callee_in_another_file_takes_effect(copy: Path) -> None:
    first, hits, folder = run(copy)
    assert (hits, folder) == (0, copy / "__pycache__")
    again, hits, _ = run(copy)
    assert (again, hits) == (first, 1)
    edit(copy / "draws.py", "_UNIT = 2.0**-53", "_UNIT = -(2.0**-53)")
    edited, hits, _ = run(copy)
    assert hits == 0
    assert edited != first
    assert run(copy)[:2] == (edited, 1)


def test_an_installation_that_cannot_be_written_uses_the_user_s_folder(
    copy: Path, tmp_path: Path
) -> None:
    (copy / "__pycache__").write_text("no folder can be made here")
    for hits in (0, 1):
        _, found, folder = run(copy, XDG_CACHE_HOME=str(tmp_path / "home"))
        assert found == hits
        assert tmp_path / "home" in folder.parents


def test_a_folder_that_cannot_be_written_is_read(copy: Path, tmp_path: Path) -> None:
    """As in a container whose image has the code and whose files are read-only."""
    first, hits, folder = run(copy, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert (hits, folder.parent) == (0, tmp_path / "cache")
    assert not (copy / "__pycache__").exists()
    obedient = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    nowhere = tmp_path / "file"
    nowhere.touch()
    told = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "XDG_CACHE_HOME": str(nowhere)}
    for each in (copy, folder):
        each.chmod(0o555)
    assert run(copy, *obedient, **told) == (first, 1, folder)
    folder.chmod(0o755)
    for code in folder.iterdir():
        code.unlink()
    folder.chmod(0o555)
    assert run(copy, *obedient, keeps=False, **told) == (first, 0, folder)
    assert not list(folder.iterdir())
    for each in (copy, folder):
        each.chmod(0o755)


def test_a_user_without_a_home_has_a_temporary_folder(copy: Path, tmp_path: Path) -> None:
    (copy / "__pycache__").write_text("no folder can be made here")
    homeless = {"XDG_CACHE_HOME": "~", "TMPDIR": str(tmp_path)}  # as a user has that no file lists
    for hits in (0, 1):
        _, found, folder = run(copy, **homeless)
        assert (found, folder.parent) == (hits, tmp_path)
    assert folder.stat().st_mode & 0o777 == 0o700 and not (copy.parents[1] / "~").exists()
    if os.geteuid() == 0:
        os.chown(folder, 12345, 12345)
        with pytest.raises(subprocess.CalledProcessError):  # another user's code is not run
            run(copy, **homeless)
