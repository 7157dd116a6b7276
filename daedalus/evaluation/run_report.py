"""Output of a run: tables and figures for its folder, the tracker and the terminal."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from daedalus.evaluation.readable import as_table
from daedalus.runs.console import make_console
from daedalus.runs.files import write_table, write_text, written_whole
from daedalus.runs.tracking import Tracker

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Report:
    """Writes tables and figures to a run's folder and its tracker, under the same names."""

    def __init__(self, out: Path, tracker: Tracker) -> None:
        self._out = out
        self._tracker = tracker
        self._console = make_console()

    def say(self, text: str) -> None:
        """Show a line of text."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def table(self, frame: pd.DataFrame, name: str, title: str = "") -> None:
        """Write ``name``.csv, send it to the tracker, and show it if it has a title."""
        write_table(frame, self._out / f"{name}.csv")
        self._tracker.table(name, frame)
        if title:
            self.show(frame, title)

    def lines(self, rows: Sequence[Mapping[str, object]], name: str) -> Path:
        """Write ``name``.jsonl, one JSON object in each line, and return its path."""
        path = self._out / f"{name}.jsonl"
        write_text(path, "".join(json.dumps(row) + "\n" for row in rows))
        return path

    def figure(self, figure: Figure, name: str) -> None:
        """Write figures/``name``.png, send it to the tracker, and print its path."""
        path = self._out / "figures" / f"{name}.png"
        save(figure, path)
        self._tracker.image(name, path)
        self._console.print(str(path), style="dim", soft_wrap=True)

    def show(self, frame: pd.DataFrame, title: str) -> None:
        """Show a table. A number and its interval (X, X_low, X_high) share one cell."""
        self._console.print(as_table(frame, title))


def save(figure: Figure, path: Path) -> None:
    """Write a figure as a PNG file with 200 dots per inch, completely or not at all."""
    with written_whole(path) as aside:
        figure.savefig(aside, format="png", dpi=200)
