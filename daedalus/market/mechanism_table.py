"""Mechanisms in a CSV file, one in each row: a run's portfolio, or a submission."""

from __future__ import annotations

import csv
from pathlib import Path

from daedalus.market.mechanism import (
    FIELDS,
    FLAGS,
    RANGES,
    Mechanism,
    MechanismError,
    mechanism_from_mapping,
)

_FLAGS = {"True": True, "False": False}
_PLACE = ("episode", "step")


def read_mechanisms(path: Path) -> list[Mechanism]:
    """Return the mechanisms of a file, in order.

    Args:
        path: A CSV file whose columns are the eleven fields, in any order.

    Raises:
        ValueError: The file is no such table, or a value is out of range. The message names the
            file, the columns and the row.
    """
    columns, rows = _read(path)
    _check_columns(path, columns)
    return [_mechanism(path, number, row) for number, row in enumerate(rows, start=1)]


def submitted_populations(path: Path) -> set[str]:
    """Return the populations that a submission names; none if it has no column ``population``.

    Raises:
        ValueError: The file is no table.
    """
    return {row["population"] or "" for row in _read(path)[1] if "population" in row}


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
            episode and step, or none is of the population. The message names the file and the row.
    """
    columns, rows = _read(path)
    named = submitted_populations(path)
    if named and population is not None and population not in named:
        others = ", ".join(sorted(named))
        raise ValueError(f"{path} has no row of the population {population}, but of {others}")
    if missing := [name for name in (*_PLACE, *FIELDS) if name not in columns]:
        raise ValueError(f"{path} lacks the columns {', '.join(missing)}")
    found: dict[tuple[int, int], Mechanism] = {}
    for number, row in enumerate(rows, start=1):
        if not _counts(row, designer, population):
            continue
        place = _place(path, number, row, seed)
        if place in found:
            raise ValueError(
                f"{path}, row {number}: episode {place[0]}, step {place[1]} stands twice; if the "
                "file has several designers, choose one by designer.of"
            )
        found[place] = _mechanism(path, number, {name: row[name] for name in FIELDS})
    return found


def _counts(row: dict[str, str], designer: str, population: str | None) -> bool:
    """Return whether a row has a mechanism, and is of the designer and the population asked for."""
    asked = {"designer": designer, "population": population}
    others = [name for name, value in asked.items() if value and row.get(name, value) != value]
    return not others and any(map(row.get, FIELDS))


def _read(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Return the columns and the rows of a table that has some."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            table = csv.DictReader(file, strict=True)
            columns, rows = list(table.fieldnames or ()), list(table)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is no CSV file ({error})") from error
    if columns and not rows:
        raise ValueError(f"{path} has no mechanism")
    return columns, rows


def _place(path: Path, number: int, row: dict[str, str], seed: int) -> tuple[int, int]:
    try:
        episode, step = (int(row[name]) for name in _PLACE)
        told = int(row.get("seed", seed))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}, row {number}: episode, step and seed are integers") from error
    if told != seed:
        raise ValueError(f"{path}, row {number}: seed {told}, but this run has seed={seed}")
    return episode, step


def _check_columns(path: Path, columns: list[str]) -> None:
    missing = [name for name in FIELDS if name not in columns]
    unknown = [name for name in columns if name not in FIELDS]
    if missing:
        raise ValueError(f"{path} lacks the columns {', '.join(missing)}")
    if unknown or len(columns) > len(FIELDS):
        wrong = unknown or sorted({name for name in columns if columns.count(name) > 1})
        raise ValueError(f"{path} has other columns ({', '.join(wrong)}) or has some twice")


def _mechanism(path: Path, number: int, row: dict[str, str]) -> Mechanism:
    if None in row or None in row.values():
        raise ValueError(f"{path}, row {number}: not {len(FIELDS)} values")
    try:
        return mechanism_from_mapping({name: _value(name, text) for name, text in row.items()})
    except MechanismError as error:
        raise ValueError(f"{path}, row {number}: {error}") from error


def _value(name: str, text: str) -> object:
    """Return what a cell says, or its text if it says nothing that the field can hold."""
    if name in FLAGS:
        return _FLAGS.get(text, text)
    if name in RANGES:
        try:
            return float(text)
        except ValueError:
            return text
    return text
