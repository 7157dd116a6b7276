"""The metadata of the package, as an install has it: where OpenEnv finds graders."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
MAKE = "from setuptools.build_meta import prepare_metadata_for_build_wheel as p; p({!r})"


def make_metadata(folder: Path) -> Path:
    """Write what pyproject.toml says into a folder, and no code; return it, to be put on the path.

    The requirements are installed in the tests' environment, and the package is not.
    """
    source, made = folder / "source", folder / "made"
    (source / "conf").mkdir(parents=True)
    for name in ("pyproject.toml", "setup.py", "requirements.txt", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    make = [sys.executable, "-c", MAKE.format(str(made))]
    made.mkdir()
    subprocess.run(make, cwd=source, capture_output=True, check=True)
    return made
