"""Mechanisms in a CSV file, one in each row: a run's portfolio."""

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


def read_mechanisms(path: Path) -> list[Mechanism]:
    """Return the mechanisms of a file, in order.

    Args:
        path: A CSV file whose columns are the eleven fields, in any order.

    Raises:
        ValueError: The file is no such table, or a value is out of range. The message names the
            file, the columns and the row.
    """
    try:
        with path.open(newline="", encoding="utf-8") as file:
            table = csv.DictReader(file, strict=True)
            columns, rows = list(table.fieldnames or ()), list(table)
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} is no CSV file ({error})") from error
    _check_columns(path, columns)
    if not rows:
        raise ValueError(f"{path} has no mechanism")
    return [_mechanism(path, number, row) for number, row in enumerate(rows, start=1)]


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
