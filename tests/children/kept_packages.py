"""Which package gives which module: read once for all processes of the tests.

Transformers and TRL both ask Python for it while they are imported, which takes a process seconds.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

_FOLDER = "DAEDALUS_TESTS_COMPOSITIONS"
_read = importlib.metadata.packages_distributions


def keep_packages() -> None:
    """Let this process ask other processes of the tests which packages there are."""
    importlib.metadata.packages_distributions = _kept


@functools.cache
def _kept() -> Mapping[str, list[str]]:
    folder = os.environ.get(_FOLDER, "")
    if not os.path.isdir(folder):  # a test gave this process an environment of its own
        return _read()
    path = Path(folder) / hashlib.sha256(_installed().encode()).hexdigest()
    if not path.exists():
        aside = path.with_suffix(f".{os.getpid()}")
        aside.write_text(json.dumps(_read()))
        aside.rename(path)
    found: Mapping[str, list[str]] = json.loads(path.read_text())
    return found


def _installed() -> str:
    """Return the packages in each folder that Python searches."""
    folders = [Path(each) for each in sys.path if Path(each).is_dir()]
    return repr([(str(each), sorted(map(str, each.glob("*.*-info")))) for each in folders])
