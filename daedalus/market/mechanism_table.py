"""Mechanisms in a CSV file, one in each row, with columns of other things beside them.

Every cell is read as text, without the spaces around it. What a column holds decides how its text
is understood, and a text that is not understood is refused with its line and its column.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from daedalus.market.mechanism import (
    FIELDS,
    FLAGS,
    RANGES,
    Mechanism,
    MechanismError,
    mechanism_from_mapping,
    shown,
)

_FLAGS = {"true": True, "false": False}
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


class MechanismRow(NamedTuple):
    """A row of a table: its file, its line from 1, and its texts by column."""

    path: Path
    line: int
    cells: dict[str, str]

    @property
    def has_mechanism(self) -> bool:
        """Return whether it has a field; it has none where an answer was refused."""
        return any(self.cells[name] for name in FIELDS)

    def place(self, column: str) -> str:
        """Return how a message names a cell."""
        return f"{self.path}, line {self.line}, column {column}"

    def mechanism(self) -> Mechanism:
        """Return the mechanism.

        Raises:
            ValueError: A value is out of range. The message names the place.
        """
        try:
            return mechanism_from_mapping({name: _value(name, self.cells[name]) for name in FIELDS})
        except MechanismError as error:
            said = f"{shown(error.value)} is not allowed; {error.allowed}"
            raise ValueError(f"{self.place(error.field)}: {said}") from error


def read_mechanisms(path: Path) -> list[Mechanism]:
    """Return the mechanisms of a file, in order.

    Its columns are the eleven fields, in any order.

    Raises:
        ValueError: The file is no such table, or a value is out of range. The message names the
            file, the line and the column.
    """
    columns, rows = read_rows(path)
    require_columns(path, columns, FIELDS)
    if unknown := [name for name in columns if name not in FIELDS]:
        raise ValueError(f"{path} has other columns ({', '.join(unknown)}); leave them out")
    return [row.mechanism() for row in rows]


def read_rows(path: Path) -> tuple[list[str], list[MechanismRow]]:
    """Return the columns and the rows of a file; blank lines are left out.

    Raises:
        ValueError: It is no table, or has columns and no row. The message names the file and, where
            the text is UTF-8, the line. Of a row of several lines that is the last one.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        table = csv.reader(file, strict=True, skipinitialspace=True)
        read = ((table.line_num, [each.strip() for each in cells]) for cells in table)
        try:
            lines = [(line, cells) for line, cells in read if any(cells)]
        except csv.Error as error:
            raise ValueError(f"{path} is no CSV file (line {table.line_num}: {error})") from error
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is no CSV file in UTF-8 ({error.reason})") from error
    if not lines:
        return [], []
    (first, columns), *rest = lines
    _check_header(path, first, columns)
    for line, cells in rest:
        if len(cells) != len(columns):
            raise ValueError(
                f"{path}, line {line}: {len(cells)} cells; give one for each of the "
                f"{len(columns)} columns of line {first}"
            )
    if not rest:
        raise ValueError(f"{path} has no mechanism")
    return columns, [
        MechanismRow(path, line, dict(zip(columns, cells, strict=True))) for line, cells in rest
    ]


def require_columns(path: Path, columns: Sequence[str], needed: Sequence[str]) -> None:
    """Raise a ValueError that names the columns that a table lacks."""
    if missing := [name for name in needed if name not in columns]:
        raise ValueError(f"{path} lacks the columns {', '.join(missing)}")


def _check_header(path: Path, line: int, columns: Sequence[str]) -> None:
    """Check that a header names no column twice."""
    for number, name in enumerate(columns):
        if name and name in columns[:number]:
            raise ValueError(f"{path}, line {line}: column {name} stands twice; keep one of them")


def _value(name: str, text: str) -> object:
    """Return what a cell says, or its text if it says nothing that the field can hold."""
    if name in FLAGS:
        return _FLAGS.get(text.lower(), text)
    if name in RANGES and _NUMBER.fullmatch(text):
        return float(text)
    return text
