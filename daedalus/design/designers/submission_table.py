"""The table of a submission: mechanisms by episode and step, perhaps of several populations."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from daedalus.market.mechanism import FIELDS, Mechanism, shown
from daedalus.market.mechanism_table import MechanismRow, read_rows, require_columns

_LEAST = {"episode": 0, "step": 1, "seed": 0}
_PLACE = ("episode", "step")
_INTEGER = re.compile(r"[0-9]{1,16}")


def submitted_populations(path: Path) -> set[str]:
    """Return the populations that a submission names; none if it has no column ``population``.

    Raises:
        ValueError: The file is no table.
    """
    return _named(read_rows(path)[1], "population")


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
    columns, rows = read_rows(path)
    require_columns(path, columns, (*_PLACE, *FIELDS))
    asked = {"designer": designer, "population": population or ""}
    for name, value in asked.items():
        named = _named(rows, name)
        if named and value and value not in named:
            others = ", ".join(sorted(named))
            raise ValueError(f"{path} has no row of the {name} {value}, but of {others}")
    found: dict[tuple[int, int], Mechanism | None] = {}
    for row in rows:
        if any(value and row.cells.get(name, value) != value for name, value in asked.items()):
            continue
        place = _place(row, seed)
        if place in found:
            raise ValueError(
                f"{path}, line {row.line}: episode {place[0]}, step {place[1]} stands twice; if "
                "the file has several designers, choose one by designer.of"
            )
        found[place] = row.mechanism() if row.has_mechanism else None
    mechanisms = {place: each for place, each in found.items() if each is not None}
    if not mechanisms:
        raise ValueError(f"{path} has no mechanism")
    return mechanisms


def _named(rows: Sequence[MechanismRow], column: str) -> set[str]:
    """Return what stands in a column of owners; nothing if there is no such column."""
    for row in rows:
        if row.cells.get(column) == "":
            raise ValueError(f"{row.place(column)}: empty; give a name")
    return {row.cells[column] for row in rows if column in row.cells}


def _place(row: MechanismRow, seed: int) -> tuple[int, int]:
    """Return the episode and the step of a row, and check its seed if it has one."""
    told = _integer(row, "seed") if "seed" in row.cells else seed
    if told != seed:
        raise ValueError(f"{row.place('seed')}: {told}, but this run has seed={seed}")
    return _integer(row, "episode"), _integer(row, "step")


def _integer(row: MechanismRow, column: str) -> int:
    text, least = row.cells[column], _LEAST[column]
    if not _INTEGER.fullmatch(text) or int(text) < least:
        raise ValueError(f"{row.place(column)}: {shown(text)}; give an integer from {least} up")
    return int(text)
