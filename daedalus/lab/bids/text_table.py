"""A CSV file as text: its cells, the lines on which they stand, and what was not read.

Nothing is converted here, so that no name of a sale and no number changes before somebody has
looked at its whole column. The module needs the standard library alone: a wrong header is refused
before anything slow is imported.
"""

from __future__ import annotations

import codecs
import csv
import io
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from daedalus.checks import CannotRunError
from daedalus.lab.bids.settings import SEPARATORS, BidLogSettings

READ, USED, LEFT_OUT, DROPPED, MERGED, MISSING, DOUBT = KINDS = (
    "read", "used", "left out", "dropped", "merged", "missing", "doubt",
)  # fmt: skip
"""What a note tells of: the file, its columns, its rows, and what may be wrong with it."""

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_OTHER_FILES = {
    b"PK\x03\x04": "a spreadsheet or a zip archive",
    b"\xd0\xcf\x11\xe0": "a spreadsheet of Excel",
    b"\x1f\x8b": "compressed",
    b"%PDF": "a PDF",
    b"PAR1": "a Parquet file",
}
_SPOKEN = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "vertical bars"}
_SHOWN = 12
"""Names of columns that an error lists at most."""

USUAL_NAMES: dict[str, list[str]] = {
    "auction": ["auction", "sale", "lot", "tender"],
    "bid": ["bid", "amount", "price", "offer"],
    "bidder": ["bidder", "buyer", "firm", "company"],
    "reserve": ["reserve"],
    "date": ["date", "day"],
}
"""What columns are usually called, by the settings that name them; the first is the default."""


@dataclass(frozen=True)
class Note:
    """What became of a part of the file.

    Attributes:
        kind: One of ``KINDS``.
        text: A sentence, with counts and the reason.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class TextTable:
    """A table of text.

    Attributes:
        names: Names of its N columns, without spaces around them; no two are alike.
        rows: Its cells, without spaces around them, N in each row.
        lines: The line of the file on which each row begins, from 1.
        separator: What stands between cells.
        notes: What was read, and what was not.
    """

    names: tuple[str, ...]
    rows: list[list[str]]
    lines: list[int]
    separator: str = ","
    notes: tuple[Note, ...] = ()

    def find(self, name: str) -> str | None:
        """Return the column of a name, exactly or else without regard to case; None if absent.

        Raises:
            CannotRunError: Several columns differ from the name in nothing but case.
        """
        if name in self.names:
            return name
        alike = [each for each in self.names if each.casefold() == name.strip().casefold()]
        if len(alike) > 1:
            raise CannotRunError(
                f"bids: the columns {' and '.join(alike)} differ in case alone; rename one"
            )
        return alike[0] if alike else None

    def require(self, named: Mapping[str, str]) -> dict[str, str]:
        """Return the columns of names that have to be there, by settings such as ``bid``.

        Raises:
            CannotRunError: Some are not there; the message has them all.
        """
        found = {key: self.find(name) for key, name in named.items()}
        lost = [key for key, column in found.items() if column is None]
        if lost:
            taken = [column for column in found.values() if column is not None]
            raise CannotRunError(self._lacks({key: named[key] for key in lost}, taken))
        return {key: column for key, column in found.items() if column is not None}

    def _lacks(self, lost: Mapping[str, str], taken: Collection[str]) -> str:
        """Return that columns are not there, and how to name them."""
        listed = ", ".join(self.names[:_SHOWN]) + (" …" if len(self.names) > _SHOWN else "")
        free = [name for name in self.names if name not in taken]
        guesses = ((key, usual_column(key, free) or "COLUMN") for key in lost)
        settings = " ".join(f"bid_log.{key}={shlex.quote(guess)}" for key, guess in guesses)
        several = len(lost) > 1
        return (
            f"bids: no column{'s' * several} {' and '.join(lost.values())} among {listed}; rename "
            f"yours, or say which {'they are' if several else 'it is'} ({settings})"
        )

    def column(self, name: str) -> list[str]:
        """Return the cells of a column."""
        place = self.names.index(name)
        return [row[place] for row in self.rows]

    def at(self, rows: Iterable[int], *notes: Note) -> TextTable:
        """Return the table with some of its rows, and with notes that say why."""
        places = list(rows)
        cells, lines = [self.rows[row] for row in places], [self.lines[row] for row in places]
        return replace(self, rows=cells, lines=lines, notes=(*self.notes, *notes))


def usual_column(key: str, names: Sequence[str]) -> str | None:
    """Return the one column with a usual name of ``key``, or None.

    The first of these names goes before the others. If several columns fit, none does.
    """
    every = USUAL_NAMES.get(key, [])
    for usual in (every[:1], every):
        found = [name for name in names if name.strip().casefold() in usual]
        if len(found) == 1:
            return found[0]
    return None


def read_table(path: Path, settings: BidLogSettings) -> TextTable:
    """Read a CSV file as text.

    Raises:
        CannotRunError: It cannot be read, or a row does not fit its header; the message names the
            line.
    """
    return parse_table(_file(path, settings), settings)


def read_header(path: Path, settings: BidLogSettings) -> TextTable:
    """Read the header of a CSV file; the table has no rows.

    Raises:
        CannotRunError: The file cannot be read, or has no header.
    """
    names, _, separator = _begun(_file(path, settings), settings)
    return TextTable(names, [], [], separator)


def _file(path: Path, settings: BidLogSettings) -> str:
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        raise CannotRunError(f"bids: {path}: no such file; give a CSV, or timber") from error
    except OSError as error:
        raise CannotRunError(
            f"bids: {path} cannot be read ({error.strerror}); give a CSV that you may read"
        ) from error
    return _text_of(data, settings.encoding, str(path))


def parse_table(text: str, settings: BidLogSettings) -> TextTable:
    """Return the table of a text of comma-separated values.

    Raises:
        CannotRunError: A row does not fit the header; the message names its line.
    """
    _refuse_lost_characters(text)
    return _without_unnamed(_fitting(*_begun(text, settings)))


def _begun(
    text: str, settings: BidLogSettings
) -> tuple[tuple[str, ...], Iterator[tuple[int, list[str]]], str]:
    """Return the names of the columns, the rows below them, and the separator."""
    text, declared = _declared(text)
    separator = settings.separator or declared or _separator(text, settings)
    rows = _rows(text, separator, 2 if declared else 1)
    line, header = next(rows, (1, []))
    return _names(header, line), rows, separator


def trimmed(cell: str) -> str:
    """Return a cell without the spaces and invisible marks around it."""
    return cell.strip().strip("\u200b\ufeff").strip()


def _text_of(data: bytes, encoding: str | None, source: str) -> str:
    """Return the text of a file."""
    what = next((what for start, what in _OTHER_FILES.items() if data.startswith(start)), None)
    if what is not None:
        raise CannotRunError(f"bids: {source} is {what}; save the table as CSV, in UTF-8")
    marked = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding or marked)
    except LookupError as error:
        raise CannotRunError(
            f"bid_log.encoding: {encoding!r} is unknown; choose utf-8, utf-16 or cp1252"
        ) from error
    except UnicodeError as error:
        return _from_windows(data, encoding or marked, source, error)


def _from_windows(data: bytes, tried: str, source: str, error: UnicodeError) -> str:
    """Return the text of a file in Windows-1252, the usual other encoding."""
    try:
        if tried == "utf-8":
            return data.decode("cp1252")
    except UnicodeDecodeError:
        pass
    raise CannotRunError(
        f"bids: {source} is no text in {tried}; save it in UTF-8, or name its encoding as in "
        "bid_log.encoding=cp1252"
    ) from error


def _refuse_lost_characters(text: str) -> None:
    for mark, what in (("\0", "a NUL character"), ("\ufffd", "a character that was lost (\ufffd)")):
        if mark in text:
            line = text.count("\n", 0, text.index(mark)) + 1
            raise CannotRunError(
                f"bids: line {line} has {what}, so the file is no text in UTF-8; save it in UTF-8"
            )


def _declared(text: str) -> tuple[str, str | None]:
    """Return the text without Excel's first line ``sep=;``, and the separator that it declares."""
    text = text.removeprefix("\ufeff")
    first, _, rest = text.partition("\n")
    mark = first.rstrip("\r")[4:5] if first.lower().startswith("sep=") else ""
    return (rest, mark) if mark in SEPARATORS and mark else (text, None)


def _separator(text: str, settings: BidLogSettings) -> str:
    """Return the separator that finds the columns of sales and bids, or else most columns.

    Commas stand in names and numbers, too, so another mark that finds as many goes before them.
    """
    wanted = {settings.auction.strip().casefold(), settings.bid.strip().casefold()}

    def found(mark: str) -> tuple[int, int, bool]:
        row = _first_row(text, mark)
        names = [trimmed(each).casefold() for each in row]
        return len(wanted & set(names)), len(names), (len(names) > 1) == (mark != ",")

    return max(SEPARATORS, key=found)


def _first_row(text: str, mark: str) -> list[str]:
    try:
        return next(_rows(text, mark, 1))[1]
    except (StopIteration, CannotRunError):
        return []


def _rows(text: str, separator: str, first: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not empty, with the line on which each begins."""
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, strict=True, skipinitialspace=True)
    line = first
    try:
        for row in reader:
            if any(trimmed(cell) for cell in row):
                yield line, row
            line = first + reader.line_num
    except csv.Error as error:
        raise CannotRunError(
            f"bids: line {line}: {error}; close each quotation mark, and put cells that hold one "
            "in quotation marks"
        ) from error


def _names(header: list[str], line: int) -> tuple[str, ...]:
    """Return the names of the columns."""
    if not header:
        raise CannotRunError(
            "bids: there is no header, so no column can be read; give a CSV with columns "
            "auction and bid, and a row for each bid"
        )
    names = [" ".join(trimmed(name).split()) for name in header]
    twice = [name for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        raise CannotRunError(
            f"bids: line {line}: the column {twice[0]} stands there twice; rename or delete one"
        )
    return tuple(names)


def _fitting(
    names: tuple[str, ...], rows: Iterable[tuple[int, list[str]]], separator: str
) -> TextTable:
    """Return the rows, each as wide as the header."""
    lines, cells, spaced = [], [], 0
    for line, row in rows:
        if len(row) != len(names):
            raise CannotRunError(_misfit(line, row, len(names), separator))
        lines.append(line)
        cells.append([trimmed(cell) for cell in row])
        spaced += cells[-1] != row
    notes = [Note(READ, f"{len(cells):,} rows; {_SPOKEN[separator]} separate cells.")]
    if spaced:
        notes.append(Note(MERGED, f"{spaced:,} rows had spaces around a cell, which do not count."))
    return TextTable(names, cells, lines, separator, tuple(notes))


def _misfit(line: int, row: list[str], width: int, separator: str) -> str:
    shown = separator.join(row)[:60]
    said = f"bids: line {line} has {len(row)} cells ({shown}), the header {width}"
    if len(row) < width:
        return f"{said}; leave cells empty rather than out"
    return (
        f"{said}; if a {separator} stands within a number or a text, put that cell in quotation "
        "marks, or save the file with another separator"
    )


def _without_unnamed(table: TextTable) -> TextTable:
    """Return the table without columns that have no name, such as an index of the rows."""
    named = [place for place, name in enumerate(table.names) if name]
    left = len(table.names) - len(named)
    if not left:
        return table
    why = f"{left} column{'s' * (left > 1)} without a name, such as an index of the rows."
    rows = [[row[place] for place in named] for row in table.rows]
    names = tuple(table.names[place] for place in named)
    return replace(table, names=names, rows=rows, notes=(*table.notes, Note(LEFT_OUT, why)))
