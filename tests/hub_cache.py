"""A folder as a snapshot in a cache of the hub; a helper for tests, not a test."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

_COMMIT = "0123456789abcdef0123456789abcdef01234567"


def leave_snapshot(folder: Path, name: str, cache: Path, missing: str = "") -> Path:
    """Copy a folder into a cache, as if it had been downloaded from a repository.

    Args:
        folder: Content of the repository.
        name: Name of the repository, OWNER/NAME.
        cache: The cache, for the environment variable HF_HUB_CACHE.
        missing: Name of a file of which the cache knows that the repository lacks it.
    """
    repository = cache / f"models--{name.replace('/', '--')}"
    snapshot = repository / "snapshots" / _COMMIT
    shutil.copytree(folder, snapshot)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(_COMMIT)
    if missing:
        (repository / ".no_exist" / _COMMIT).mkdir(parents=True)
        (repository / ".no_exist" / _COMMIT / missing).touch()
    return snapshot


def offline(cache: Path) -> dict[str, str]:
    """Return the environment of a process that has the cache and no network."""
    unset = {"HF_TOKEN", "HF_HOME", "HF_ENDPOINT"}
    inherited = {key: value for key, value in os.environ.items() if key not in unset}
    return inherited | {
        "HF_HUB_CACHE": str(cache),
        "HF_HOME": str(cache / "home"),
        "HF_HUB_OFFLINE": "1",
    }
