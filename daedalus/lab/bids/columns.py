"""What the cells of a column are: numbers, with which decimal mark and unit, or words.

A column is decided as a whole. Where its cells allow two readings that differ, and nothing else in
the file tells which is meant, it is refused.
"""

from __future__ import annotations

import datetime
import math
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from daedalus.checks import CannotRunError
from daedalus.lab.bids.text_table import TextTable

_GAPS = " \u00a0\u2009\u202f'\u2019"  # between thousands, beside the other mark
_MINUS = str.maketrans("\u2212", "-")
_UNIT = re.compile(
    r"(?P<before>[$€£¥₹]|[A-Z]{3}|[A-Z]{0,2}\$)?[\s]*(?P<number>[-+]?[0-9.,][0-9.,\s'\u2019]*?)"
    r"\s*(?P<after>[^\W\d_][\w²³./]{0,7}|[$€£¥₹%]|[a-z]{0,3}[²³])?",
    re.ASCII | re.VERBOSE,
)
_CODE = re.compile(r"0[0-9]")
ABSENT = {"na", "n/a", "n.a.", "nan", "null", "none", "nil", "-", "--", ".", "?", "#n/a"}
"""What stands in a cell, in any case, where nothing is known."""
_MOST = 1e100
_KEPT = 2**17  # cells whose number is remembered: they are asked for several times
_DATES = (
    re.compile(r"(?P<y>[12]\d{3})"),
    re.compile(r"(?P<y>[12]\d{3})[-/.](?P<m>\d{1,2})"),
    re.compile(r"(?P<y>[12]\d{3})(?P<m>\d{2})(?P<d>\d{2})"),
    re.compile(r"(?P<y>[12]\d{3})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})(?:[T ].*)?"),
    re.compile(r"(?P<d>\d{1,2})[-/.](?P<m>\d{1,2})[-/.](?P<y>[12]\d{3})(?:[T ,].*)?"),
)


@dataclass(frozen=True)
class Numbers:
    """A column of numbers.

    Attributes:
        values: A number for each cell; None where it is empty.
        decimal: The decimal mark, or "" if no cell has a mark.
        unit: What stands with each number, such as ``ha``; "" if nothing does.
    """

    values: list[float | None]
    decimal: str
    unit: str


@lru_cache(maxsize=_KEPT)
def number_of(cell: str, decimal: str) -> float | None:
    """Return the number that a cell is, with groups of thousands or without; None if it is none."""
    plain = cell.translate(_MINUS)
    if _NUMBERS[decimal].fullmatch(plain) is None:
        return None
    number = float(plain.translate(_UNGROUPED[decimal]))
    return number if abs(number) < _MOST else None


def _pattern(decimal: str, other: str) -> re.Pattern[str]:
    """Return the pattern of numbers with a decimal mark; ``other`` may part thousands."""
    gap, mark = f"[{re.escape(_GAPS + other)}]", re.escape(decimal)
    whole = rf"(?:[0-9]+|[1-9][0-9]{{0,2}}(?P<gap>{gap})[0-9]{{3}}(?:(?P=gap)[0-9]{{3}})*)"
    body = rf"(?:{whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)"
    return re.compile(rf"[-+]?{body}(?:[eE][-+]?[0-9]{{1,3}})?")


_NUMBERS = {".": _pattern(".", ","), ",": _pattern(",", ".")}
_UNGROUPED = {
    ".": str.maketrans("", "", _GAPS + ","),
    ",": str.maketrans(",", ".", _GAPS + "."),
}


class Columns:
    """The columns of a table, decided one by one.

    Args:
        table: The table as text.
        decimal: The decimal mark of the whole file, or None to tell it from the numbers.
        names: Columns that are names, and so say nothing of the decimal mark.
        amounts: Columns of money. They tell the mark of the file before others do.
    """

    def __init__(
        self, table: TextTable, decimal: str | None, names: Collection[str],
        amounts: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.table = table
        self._decimal = decimal
        self._of_amounts = decimal or self._mark_of(amounts)
        self._of_others = decimal or self._mark_of(set(table.names) - set(names))

    def are_numbers(self, name: str) -> bool:
        """Return whether a column is of numbers: most cells are, in one unit, and none is a code.

        A code is a number that begins with 0, such as 01234.
        """
        filled = [cell for cell in self.table.column(name) if _is_there(cell)]
        units = Counter(unit for unit, number in map(_bare, filled) if _any_number(number))
        most = max(units.values(), default=0)
        return 0 < len(filled) <= 2 * most and not any(map(_CODE.match, filled))

    def numbers(self, name: str) -> Numbers:
        """Return a column as numbers.

        Raises:
            CannotRunError: A cell is none, or may be two; the message names its line.
        """
        cells = self.table.column(name)
        bare, unit = self._without_unit(name, cells)
        decimal = self._decimal or self._mark(name, bare)
        values: list[float | None] = []
        for line, cell, number in zip(self.table.lines, cells, bare, strict=True):
            value = number_of(number, decimal or ".")
            if value is None and _is_there(cell):
                mark = f" with the decimal mark {decimal}" if decimal else ""
                raise CannotRunError(
                    f"bids: column {name}, line {line}: {cell} is no number{mark}; write digits "
                    "alone, such as 1250.50"
                )
            values.append(value)
        return Numbers(values, decimal, unit)

    def amounts(self, name: str, hint: str, above: bool = False) -> Numbers:
        """Return a column as amounts of money from 0 up, or above 0.

        Raises:
            CannotRunError: A cell is none; the message names its line.
        """
        found, cells = self.numbers(name), self.table.column(name)
        for line, cell, value in zip(self.table.lines, cells, found.values, strict=True):
            where = f"bids: column {name}, line {line}"
            if value is None:
                shown = cell or "an empty cell"
                raise CannotRunError(
                    f"{where}: {shown} is no number; write digits alone, such as 1250.50"
                )
            if value < 0:
                raise CannotRunError(
                    f"{where}: {cell} is negative; give amounts that buyers would pay, from 0 up"
                )
            if value < 1.0 / _MOST and (above or value > 0):
                raise CannotRunError(f"{where}: {cell} stands there; {hint}")
        return found

    def years(self, name: str) -> list[str]:
        """Return the years of a column of dates.

        Raises:
            CannotRunError: A cell is no date; the message names its line.
        """
        found = []
        for line, cell in zip(self.table.lines, self.table.column(name), strict=True):
            year = _year(cell)
            if year is None:
                shown = cell or "an empty cell"
                raise CannotRunError(
                    f"bids: column {name}, line {line}: {shown} is no date; write dates as "
                    "1990-01-31, or choose another column of dates (bid_log.date)"
                )
            found.append(year)
        return found

    def _without_unit(self, name: str, cells: Sequence[str]) -> tuple[list[str], str]:
        """Return cells without the unit that all of them have."""
        parts = [_bare(cell) for cell in cells]
        there = [row for row, cell in enumerate(cells) if _is_there(cell)]
        units = Counter(parts[row][0] for row in there)
        usual = units.most_common(1)[0][0] if units else ""
        for row in there:
            if parts[row][0] != usual:
                line, cell = self.table.lines[row], cells[row]
                example = next(cells[each] for each in there if parts[each][0] == usual)
                raise CannotRunError(
                    f"bids: column {name}, line {line}: {cell} is no number; write digits alone, "
                    f"in one unit (others look like {example})"
                )
        return [number for _, number in parts], usual

    def _mark(self, name: str, cells: Sequence[str]) -> str:
        """Return the decimal mark of a column; "" if it has no mark."""
        marked = [cell for cell in cells if "." in cell or "," in cell]
        if not marked:
            return ""
        possible = [mark for mark in ".," if all(_reads(cell, mark) for cell in marked)]
        if len(possible) == 1:
            return possible[0]
        if not possible:  # the cell that fits less is named by ``numbers``
            return "," if sum(_reads(each, ",") for each in marked) * 2 > len(marked) else "."
        told = self._of_amounts or self._of_others
        # Dates and times have points, too: 01.2024 does not tell that 1.250 is 1.25.
        doubtful = told != self._of_amounts and told == "." and any("." in cell for cell in marked)
        if told in possible and not doubtful:
            return str(told)
        return self._guess(name, cells, marked)

    def _guess(self, name: str, cells: Sequence[str], marked: list[str]) -> str:
        """Return the mark of cells such as 1.234, all of which may be in thousands."""
        dots = all("." in cell for cell in cells if cell)
        if dots and self.table.separator == ",":
            return "."
        line = next(
            line for line, cell in zip(self.table.lines, cells, strict=True) if cell in marked
        )
        one, other = (number_of(marked[0], mark) for mark in ".,")
        raise CannotRunError(
            f"bids: column {name}, line {line}: {marked[0]} may be {one:.10g} or {other:.10g}; "
            "choose the decimal mark (\"bid_log.decimal='.'\" or \"bid_log.decimal=','\")"
        )

    def _mark_of(self, names: Collection[str]) -> str | None:
        """Return the only decimal mark that some column must have; None if none or both."""
        certain = set()
        for name in names:
            cells = {_bare(cell)[1] for cell in set(self.table.column(name))}
            marked = [cell for cell in cells if "." in cell or "," in cell]
            fits = [mark for mark in ".," if all(_reads(cell, mark) for cell in marked)]
            if len(fits) == 1:
                certain |= set(fits)
        return certain.pop() if len(certain) == 1 else None


@lru_cache(maxsize=_KEPT)
def _bare(cell: str) -> tuple[str, str]:
    """Return the unit of a cell, and its number as text; the cell itself if it is no number."""
    match = _UNIT.fullmatch(cell.translate(_MINUS))
    if match is None or _any_number(cell):
        return "", cell
    unit = f"{match['before'] or ''} {match['after'] or ''}".strip()
    return unit, match["number"].strip()


def _is_there(cell: str) -> bool:
    return bool(cell) and cell.casefold() not in ABSENT


def _reads(cell: str, decimal: str) -> bool:
    return number_of(cell, decimal) is not None


def _any_number(cell: str) -> bool:
    return _reads(cell, ".") or _reads(cell, ",")


def _year(cell: str) -> str | None:
    for pattern in _DATES:
        match = pattern.fullmatch(cell)
        parts = match.groupdict() if match else {}
        month, day = (int(parts.get(each) or 1) for each in "md")
        if parts and (_is_date(parts["y"], month, day) or _is_date(parts["y"], day, month)):
            return parts["y"]
    return None


def _is_date(year: str, month: int, day: int) -> bool:
    try:
        return math.isfinite(datetime.date(int(year), month, day).toordinal())
    except ValueError:
        return False
