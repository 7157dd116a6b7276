"""The newest training run in a folder of outputs: its curves, figures and tables."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HISTORY = "training_history.json"
_TABLES = (HISTORY, "training_history.csv")
_LOOK_EVERY = 5.0  # seconds; a search through many runs takes a while


class NewestRun:
    """Finds the newest run that logged its training, and the files of it that may be shown.

    Args:
        outputs: Folder that contains runs, at any depth; it need not exist.
        clock: Returns the time, in seconds.
    """

    def __init__(self, outputs: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._outputs = outputs
        self._clock = clock
        self._looked = -math.inf
        self._found: Path | None = None

    def folder(self) -> Path | None:
        """Return the run's folder, at most a few seconds out of date; None if there is no run."""
        gone = self._found is not None and not (self._found / HISTORY).is_file()
        if gone or self._clock() - self._looked > _LOOK_EVERY:
            found = max(self._outputs.rglob(HISTORY), key=_written, default=None)
            self._found = found.parent if found else None
            self._looked = self._clock()
        return self._found

    @property
    def name(self) -> str | None:
        """Return the run's name, its path within the outputs; None if there is no run."""
        folder = self.folder()
        return folder.relative_to(self._outputs).as_posix() if folder else None

    def history(self) -> list[dict[str, float | None]]:
        """Return the numbers of every logged step; None stands for NaN and infinity."""
        folder = self.folder()
        if folder is None:
            return []
        rows: list[dict[str, Any]] = json.loads((folder / HISTORY).read_text())
        return [{name: _finite(value) for name, value in row.items()} for row in rows]

    def files(self) -> dict[str, Path]:
        """Return the files that may be shown, by name: figures and tables of the training."""
        folder = self.folder()
        if folder is None:
            return {}
        tables = [folder / name for name in _TABLES if (folder / name).is_file()]
        return {path.name: path for path in [*sorted(folder.glob("figures/*.png")), *tables]}


def _written(path: Path) -> float:
    return path.stat().st_mtime


def _finite(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if is_number else None
