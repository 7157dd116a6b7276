"""The newest training run in a folder of outputs: its curves, figures and tables."""

from __future__ import annotations

import csv
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from daedalus.design.designers.candidates import newest_run
from daedalus.evaluation.episodes import COMPOSITE
from daedalus.runs.folder import RunFolder
from daedalus.service.page.page_messages import DesignerScore

_SCORE = {"designer", "mean", "mean_low", "mean_high"}
_LOOK_EVERY = 5.0  # seconds; a search of many runs takes a while


class NewestRun:
    """Finds the newest run that logged its training, and names its files on show.

    Args:
        outputs: Folder in which runs leave theirs, at any depth; it need not exist.
        clock: What time it is, in seconds.
    """

    def __init__(self, outputs: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._outputs = outputs
        self._clock = clock
        self._looked = -math.inf
        self._found: RunFolder | None = None

    def run(self) -> RunFolder | None:
        """Return the run, as of a few seconds ago at most; None if there is none."""
        gone = self._found is not None and not self._found.history.is_file()
        if gone or self._clock() - self._looked > _LOOK_EVERY:
            self._found = newest_run(self._outputs)
            self._looked = self._clock()
        return self._found

    @property
    def name(self) -> str | None:
        """Return the run's place in the outputs."""
        run = self.run()
        return run.path.relative_to(self._outputs).as_posix() if run else None

    def history(self) -> list[dict[str, float | None]]:
        """Return the record of every step; None stands for values that are no finite number."""
        run = self.run()
        if run is None:
            return []
        rows: list[dict[str, Any]] = json.loads(run.history.read_text())
        return [{name: _finite(value) for name, value in row.items()} for row in rows]

    def scores(self) -> list[DesignerScore]:
        """Return mean R of each designer in the run's own evaluation, as the run wrote them.

        A run whose designers are compared by another reward has none.
        """
        run = self.run()
        if run is None or not run.summary.is_file():
            return []
        with run.summary.open(encoding="utf-8", newline="") as table:
            rows = [row for row in csv.DictReader(table) if _SCORE <= row.keys()]
        if any(COMPOSITE in row for row in rows):
            return []
        return [
            DesignerScore(
                designer=row["designer"],
                mean=float(row["mean"]),
                low=float(row["mean_low"]),
                high=float(row["mean_high"]),
            )
            for row in rows
        ]

    def files(self) -> dict[str, Path]:
        """Return the files on show, by name: figures and tables of the training."""
        run = self.run()
        if run is None:
            return {}
        tables = [path for path in (run.history, run.history_table) if path.is_file()]
        return {path.name: path for path in [*sorted(run.path.glob("figures/*.png")), *tables]}


def _finite(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and math.isfinite(value)
    return float(value) if is_number else None
