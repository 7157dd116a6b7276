"""Names and values in words, and tables as people read them."""

from __future__ import annotations

import math
from collections.abc import Hashable
from typing import Any

import pandas as pd
from rich.table import Table

from daedalus.evaluation.basis import COLUMN, caution, reading


def readable(value: object) -> str:
    """Return a value in words: ``informed_greedy`` is ``informed greedy``, and True is ``yes``."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("_", " ")


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
