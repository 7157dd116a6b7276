from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Inspect log in a folder of its own, and verifiers find our environments."""
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path))
    monkeypatch.setenv("KEY", "none")
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "deploy")
