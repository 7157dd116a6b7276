"""Output of a run: tables and figures for its folder, the tracker and the terminal."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from rich.table import Table

from daedalus.evaluation.basis import COLUMN, caution, reading
from daedalus.evaluation.readable import readable
from daedalus.runs.console import make_console
from daedalus.runs.files import write_table, written_whole
from daedalus.runs.tracking import Tracker

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Report:
    """Writes tables and figures, each under the same name everywhere.

    Args:
        out: Run folder.
        tracker: Receives tables and figures too.
    """

    def __init__(self, out: Path, tracker: Tracker) -> None:
        self._out = out
        self._tracker = tracker
        self._console = make_console()

    def say(self, text: str) -> None:
        """Show a line of text."""
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)

    def table(self, frame: pd.DataFrame, name: str) -> None:
        """Write ``name``.csv and send it to the tracker."""
        write_table(frame, self._out / f"{name}.csv")
        self._tracker.table(name, frame)

    def lines(self, rows: Sequence[Mapping[str, object]], name: str) -> Path:
        """Write ``name``.jsonl, one JSON object in each line, and return its path."""
        path = self._out / f"{name}.jsonl"
        with written_whole(path) as aside:
            aside.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path

    def figure(self, figure: Figure, name: str) -> None:
        """Write figures/``name``.png, send it to the tracker, and print its path."""
        from daedalus.evaluation.figures import save  # slow to import; not every run draws

        path = self._out / "figures" / f"{name}.png"
        save(figure, path)
        self._tracker.image(name, path)
        self._console.print(str(path), style="dim", soft_wrap=True)

    def show(self, frame: pd.DataFrame, title: str) -> None:
        """Show a table. A number and its interval (X, X_low, X_high) share one cell."""
        self._console.print(as_table(frame, title))


def as_table(frame: pd.DataFrame, title: str) -> Table:
    """Return a table to show. A number and its interval, if it has one, share one cell.

    Where the frame says what an interval is over (``X_interval``, see ``basis``), the caption does,
    and the word of one that may be too short stands beside it.
    """
    bounds = {f"{name}{end}" for name in frame.columns for end in _ends(frame, str(name))}
    names = [name for name in frame.columns if name not in bounds]
    table = Table(*(readable(name) for name in names), title=title, title_justify="left")
    for row in frame.to_dict("records"):
        table.add_row(*(_cell(row, name) for name in names))
    table.caption, table.caption_justify = reading(frame) or None, "left"
    return table


def _ends(frame: pd.DataFrame, name: str) -> list[str]:
    """Return the endings of the columns that share a number's cell."""
    has_interval = {f"{name}_low", f"{name}_high"} <= set(frame.columns)
    return ["_low", "_high", COLUMN] if has_interval else [COLUMN]


def _cell(row: dict[Hashable, Any], name: str) -> str:
    text = _number(row[name]) if isinstance(row[name], float) else str(row[name])
    if {f"{name}_low", f"{name}_high"} <= row.keys() and not math.isnan(row[f"{name}_low"]):
        text += f" [{_number(row[f'{name}_low'])}, {_number(row[f'{name}_high'])}]"
        text = f"{text} {caution(row.get(f'{name}{COLUMN}', ''))}".rstrip()
    return text


def _number(value: float) -> str:
    """Return a number with three decimals, or a small one with two digits."""
    return f"{value:.3f}" if value == 0 or abs(value) >= 0.01 else f"{value:.2g}"
