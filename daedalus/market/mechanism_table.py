"""Mechanisms in a CSV file, one in each row, with columns of other things beside them.

Every cell is read as text, without the spaces around it. What a column holds decides how its text
is understood, and a text that is not understood is refused with its line and its column.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import StringIO
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
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


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
        ValueError: It is no table, or has columns and no row. The message names file and line.
    """
    table = csv.reader(StringIO(_text(path), newline=""), strict=True, skipinitialspace=True)
    try:
        lines = list(_lines(table))
    except csv.Error as error:
        raise ValueError(f"{path} is no CSV file (line {table.line_num}: {error})") from error
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


def _text(path: Path) -> str:
    written = path.read_bytes()
    try:
        return written.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = written[: error.start].count(b"\n") + 1
        raise ValueError(f"{path} is no CSV file in UTF-8 (line {line}: {error.reason})") from error


def _lines(table: Iterator[list[str]]) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of each line that is not blank, and the number of the line from 1."""
    first = 1
    for cells in table:
        stripped = [each.strip() for each in cells]
        if any(stripped):
            yield first, stripped
        first = table.line_num + 1  # type: ignore[attr-defined]  # a reader of csv has it


def _check_header(path: Path, line: int, columns: Sequence[str]) -> None:
    """Check that a header is separated by commas and names no column twice."""
    for separator, words in _SEPARATORS.items():
        if len(columns) == 1 and separator in columns[0]:
            raise ValueError(f"{path}, line {line}: {words} separate the columns; write commas")
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
