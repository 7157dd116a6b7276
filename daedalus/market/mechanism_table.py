"""Mechanisms in a CSV file, one in each row: a run's portfolio, or a submission.

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
_LEAST = {"episode": 0, "step": 1, "seed": 0}
_PLACE = ("episode", "step")
_INTEGER = re.compile(r"[0-9]{1,16}")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


class _Row(NamedTuple):
    """A row of a table: its line in the file, from 1, and its cells by column."""

    line: int
    cells: dict[str, str]

    @property
    def has_mechanism(self) -> bool:
        """Return whether it has a field; it has none where an answer was refused."""
        return any(self.cells[name] for name in FIELDS)


def read_mechanisms(path: Path) -> list[Mechanism]:
    """Return the mechanisms of a file, in order.

    Args:
        path: A CSV file whose columns are the eleven fields, in any order.

    Raises:
        ValueError: The file is no such table, or a value is out of range. The message names the
            file, the line and the column.
    """
    columns, rows = _read(path)
    _require_columns(path, columns, FIELDS)
    if unknown := [name for name in columns if name not in FIELDS]:
        raise ValueError(f"{path} has other columns ({', '.join(unknown)}); leave them out")
    return [_mechanism(path, row) for row in rows]


def submitted_populations(path: Path) -> set[str]:
    """Return the populations that a submission names; none if it has no column ``population``.

    Raises:
        ValueError: The file is no table.
    """
    return _named(path, _read(path)[1], "population")


def read_submission(
    path: Path, designer: str, seed: int, population: str | None = None
) -> dict[tuple[int, int], Mechanism]:
    """Return the mechanisms of a submission by episode, from 0, and step, from 1.

    Args:
        path: A CSV file with the columns ``episode``, ``step`` and the eleven fields, such as the
            steps.csv of a run. Other columns are ignored, and so are rows that have no fields,
            because the answer was refused.
        designer: Whose rows count, if there is a column ``designer``; empty takes all.
        seed: Seed of the episodes; a column ``seed`` must agree.
        population: Whose rows count, if there is a column ``population``; None takes all.

    Raises:
        ValueError: The file is no such table, a value is out of range, two rows have the same
            episode and step, or none is of the designer and the population. The message names the
            file and, where there is one, the line and the column.
    """
    columns, rows = _read(path)
    _require_columns(path, columns, (*_PLACE, *FIELDS))
    asked = {"designer": designer, "population": population or ""}
    for name, value in asked.items():
        named = _named(path, rows, name)
        if named and value and value not in named:
            others = ", ".join(sorted(named))
            raise ValueError(f"{path} has no row of the {name} {value}, but of {others}")
    found: dict[tuple[int, int], Mechanism | None] = {}
    for row in rows:
        if any(value and row.cells.get(name, value) != value for name, value in asked.items()):
            continue
        place = _place(path, row, seed)
        if place in found:
            raise ValueError(
                f"{path}, line {row.line}: episode {place[0]}, step {place[1]} stands twice; if "
                "the file has several designers, choose one by designer.of"
            )
        found[place] = _mechanism(path, row) if row.has_mechanism else None
    mechanisms = {place: each for place, each in found.items() if each is not None}
    if not mechanisms:
        raise ValueError(f"{path} has no mechanism")
    return mechanisms


def _named(path: Path, rows: Sequence[_Row], column: str) -> set[str]:
    """Return what stands in a column of owners; nothing if there is no such column."""
    for row in rows:
        if row.cells.get(column) == "":
            raise ValueError(f"{_cell(path, row, column)}: empty; give a name")
    return {row.cells[column] for row in rows if column in row.cells}


def _read(path: Path) -> tuple[list[str], list[_Row]]:
    """Return the columns and the rows of a table that has some; blank lines are left out."""
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
    return columns, [_Row(line, dict(zip(columns, cells, strict=True))) for line, cells in rest]


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


def _require_columns(path: Path, columns: Sequence[str], needed: Sequence[str]) -> None:
    if missing := [name for name in needed if name not in columns]:
        raise ValueError(f"{path} lacks the columns {', '.join(missing)}")


def _place(path: Path, row: _Row, seed: int) -> tuple[int, int]:
    """Return the episode and the step of a row, and check its seed if it has one."""
    told = _integer(path, row, "seed") if "seed" in row.cells else seed
    if told != seed:
        raise ValueError(f"{_cell(path, row, 'seed')}: {told}, but this run has seed={seed}")
    return _integer(path, row, "episode"), _integer(path, row, "step")


def _integer(path: Path, row: _Row, column: str) -> int:
    text, least = row.cells[column], _LEAST[column]
    if not _INTEGER.fullmatch(text) or int(text) < least:
        raise ValueError(
            f"{_cell(path, row, column)}: {shown(text)}; give an integer from {least} up"
        )
    return int(text)


def _mechanism(path: Path, row: _Row) -> Mechanism:
    try:
        return mechanism_from_mapping({name: _value(name, row.cells[name]) for name in FIELDS})
    except MechanismError as error:
        said = f"{shown(error.value)} is not allowed; {error.allowed}"
        raise ValueError(f"{_cell(path, row, error.field)}: {said}") from error


def _cell(path: Path, row: _Row, column: str) -> str:
    return f"{path}, line {row.line}, column {column}"


def _value(name: str, text: str) -> object:
    """Return what a cell says, or its text if it says nothing that the field can hold."""
    if name in FLAGS:
        return _FLAGS.get(text.lower(), text)
    if name in RANGES and _NUMBER.fullmatch(text):
        return float(text)
    return text
