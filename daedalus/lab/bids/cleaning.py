"""Rows of a log of bids that are no bids, or that stand there twice; and names that look alike."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal, InvalidOperation
from functools import reduce
from pathlib import Path

from daedalus.checks import CannotRunError
from daedalus.lab.bids.columns import ABSENT
from daedalus.lab.bids.settings import ASCENDING, TIMBER, BidLogSettings
from daedalus.lab.bids.text_table import (
    DOUBT,
    DROPPED,
    MERGED,
    MISSING,
    USUAL_NAMES,
    Note,
    TextTable,
    read_header,
)

_TOTALS = re.compile(
    r"(grand |sub ?|overall )?(total|totals|sum|sums|average|mean|count|summe|gesamt|insgesamt|"
    r"suma|somme|totale|totaal)"
    r"(\W+(of|for|in|the|all|bids?|sales?|auctions?|lots?|amounts?|values?|prices?|rows?|[^\W\d]*\d\w*+))*\W*",
    re.IGNORECASE,
)
"""Names of totals: what follows such a word may be what is added up, but no name as of a firm."""
_COPIED = 0.2  # share of sales in which each bid stands twice, from which it is no chance
_SUMMED = 0.5  # share of sales in which the highest bid is the sum of the others
_EQUAL = 0.9  # share of sales whose bids are all equal, from which nothing can be estimated
_FEWEST = 5
_DIFFERENT = 25
_LISTED = 3
_LOTS = re.compile(
    r"(lot|item|pos|position|object|objekt|article|artikel|los)"
    r"[\W_]*(nr|no|num|number|nummer|id|code|name)?\W*",
    re.IGNORECASE,
)
"""Names of columns that tell the sales of one event apart."""
_TIME = re.compile(r"[T ,].*")
_NO_NAMES = {"NA", "NaN", "nan", "None", "null", "N/A"}
_UNKNOWN = {"", *ABSENT, "unknown", "anonymous"}
_WAYS_TO_BID = {"phone", "online", "floor", "proxy"}


@dataclass(frozen=True)
class Roles:
    """The columns of a table that have a meaning for sales.

    Attributes:
        auction: Column of the sales.
        bid: Column of the bids.
        bidder: Column of the bidders, or None.
        reserve: Column of the reserves, or None.
        date: Column of the dates, or None.
    """

    auction: str
    bid: str
    bidder: str | None
    reserve: str | None
    date: str | None

    @classmethod
    def of(cls, table: TextTable, settings: BidLogSettings) -> Roles:
        """Return the roles of the columns of a table.

        Raises:
            CannotRunError: A column that has to be there, or that is named, is not.
        """
        usual = BidLogSettings()
        optional = {}
        for key in ("bidder", "reserve", "date"):
            name = getattr(settings, key)
            named = name not in ("", getattr(usual, key))
            optional[key] = (
                table.require({key: name})[key] if named else table.find(name) if name else None
            )
        required = table.require({key: getattr(settings, key) for key in ("auction", "bid")})
        roles = cls(required["auction"], required["bid"], **optional)
        twice = [name for name, count in Counter(roles.taken).items() if count > 1]
        if twice:
            raise CannotRunError(
                f"bids: column {twice[0]} is chosen twice, for {roles.uses(twice[0])}; choose "
                "another for one of them"
            )
        return roles

    def uses(self, column: str) -> str:
        """Return what a column is used for, in words."""
        used = [key for key, name in asdict(self).items() if name == column]
        return " and ".join("sale" if key == "auction" else key for key in used)

    @property
    def taken(self) -> list[str]:
        """Return the columns that have a role."""
        return [name for name in asdict(self).values() if name is not None]

    @property
    def names(self) -> list[str]:
        """Return the columns of names and dates, which are no amounts."""
        every = (self.auction, self.bidder, self.date)
        return [name for name in every if name is not None]

    def amounts(self, names: Sequence[str]) -> list[str]:
        """Return the columns of bids, reserves and other prices among the names of columns."""
        taken, prices = set(self.taken), USUAL_NAMES["bid"]
        others = [name for name in names if name not in taken and name.casefold() in prices]
        return [name for name in (self.bid, self.reserve, *others) if name is not None]


def require_log(source: str, settings: BidLogSettings) -> None:
    """Refuse a log, a CSV file or ``timber``, without the columns that it needs. No row is read.

    Raises:
        CannotRunError: The message says what is expected.
    """
    if not source:
        raise CannotRunError("bids: none; give bids=FILE, a CSV with a row for each bid, or timber")
    if source != TIMBER:
        Roles.of(read_header(Path(source), settings), settings)


def without_totals(table: TextTable, roles: Roles) -> TextTable:
    """Return the table without rows that add up others, such as one whose sale is called Total.

    A sale of several rows is none, whatever it is called.
    """
    rows_of = Counter(table.column(roles.auction))
    columns = [table.column(name) for name in (roles.auction, roles.bidder) if name is not None]
    totals = {}
    for row, (auction, *bidder) in enumerate(zip(*columns, strict=True)):
        named = [*bidder, *([auction] if rows_of[auction] == 1 else [])]
        for name in filter(_TOTALS.fullmatch, named):
            totals[row] = name
    if not totals:
        return table
    lost = _rows([table.lines[row] for row in totals])
    called = " or ".join(sorted(set(totals.values()))[:_LISTED])
    why = f"{lost} called {called}: a total of other rows is no bid. A bid needs another name."
    kept = sorted(set(range(len(table.rows))) - set(totals))
    return table.at(kept, Note(DROPPED, why))


def bidders_of(table: TextTable, roles: Roles) -> tuple[list[str] | None, list[Note]]:
    """Return the bidder of each row, or None if no row has one.

    An empty cell, or one such as ``NA`` or ``unknown``, is an unknown bidder, another one in each
    row.
    """
    if roles.bidder is None:
        return None, []
    cells = table.column(roles.bidder)
    named = [
        f"\0{line}" if cell.casefold() in _UNKNOWN else cell
        for line, cell in zip(table.lines, cells, strict=True)
    ]
    unknown = [line for line, name in zip(table.lines, named, strict=True) if not name_of(name)]
    why = "counts as one bidder; if it stands for several, leave its cells empty"
    ways = {cell for cell in cells if cell.casefold() in _WAYS_TO_BID}
    notes = [*_alike("bidder", map(name_of, named)), *_odd("bidder", cells, ways, why)]
    if unknown:
        why = f"{_rows(unknown)} without a name: each counts as a bid of somebody unknown."
        notes.append(Note(MISSING, why))
    return (named if len(unknown) < len(cells) else None), notes


def name_of(bidder: str) -> str:
    """Return the name of a bidder of ``bidders_of``; "" if nobody knows it."""
    return "" if bidder.startswith("\0") else bidder


def auctions_of(table: TextTable, roles: Roles) -> tuple[list[str], list[Note]]:
    """Return the sale of each row.

    Raises:
        CannotRunError: A row has none; the message names its line.
    """
    cells = table.column(roles.auction)
    for line, cell in zip(table.lines, cells, strict=True):
        if not cell:
            raise CannotRunError(
                f"bids: line {line} has no sale in column {roles.auction}; if it is a total, "
                "delete it, or else name its sale"
            )
    return cells, [*_alike("sale", cells), *_odd("sale", cells, _NO_NAMES, "counts as a name")]


def refuse_pooled(table: TextTable, auctions: Sequence[str], roles: Roles) -> list[Note]:
    """Refuse a log in which several sales have one name, as lots of an event; return doubts.

    Raises:
        CannotRunError: A column of lots differs within most sales; the message names two lines.
    """
    for name in filter(_LOTS.fullmatch, table.names):
        lines = None if name in roles.taken else _parted(table, auctions, table.column(name))
        if lines:
            raise CannotRunError(
                f"bids: column {name} differs within most sales (as in {lines}), so several sales "
                f"have one name; name each by {roles.auction} and {name} together, or rename the "
                f"column {name} if it tells no sales apart"
            )
    days = [] if roles.date is None else _days(table.column(roles.date))
    lines = _parted(table, auctions, days) if days else None
    why = (
        f"In most sales bids have several dates (as in {lines}); if names of sales are used "
        f"again, name each by {roles.auction} and {roles.date} together."
    )
    return [Note(DOUBT, why)] if lines else []


def _parted(table: TextTable, auctions: Sequence[str], cells: Sequence[str]) -> str | None:
    """Return two lines of a sale whose cells differ, if cells part most sales; else None.

    Cells that stand in one row of a sale, such as numbers of bids, part none.
    """
    first: dict[str, int] = {}
    apart: dict[str, int] = {}
    for row, (auction, cell) in enumerate(zip(auctions, cells, strict=True)):
        if cells[first.setdefault(auction, row)] != cell:
            apart.setdefault(auction, row)
    parts = Counter(zip(auctions, cells, strict=True)).values()
    shared = sum(count for count in parts if count > 1)
    if 2 * len(apart) <= len(first) or 2 * shared <= len(cells):
        return None
    auction, row = next(iter(apart.items()))
    return f"lines {table.lines[first[auction]]} and {table.lines[row]}"


def _days(cells: Sequence[str]) -> list[str]:
    """Return dates without their times, which differ within a sale as bids come."""
    return [_TIME.sub("", cell) for cell in cells]


def _alike(what: str, names: Iterable[str]) -> Iterator[Note]:
    """Yield a note on names that look like others."""
    alike = defaultdict(set)
    for cell in set(filter(None, names)):
        alike[_plain(cell)].add(cell)
    pairs = sorted(" and ".join(sorted(names)) for names in alike.values() if len(names) > 1)
    if pairs:
        shown = "; ".join(pairs[:_LISTED]) + (" …" if len(pairs) > _LISTED else "")
        yield Note(DOUBT, f"{what} names that look alike count as different ones: {shown}.")


def _odd(what: str, cells: Sequence[str], names: set[str], why: str) -> Iterator[Note]:
    """Yield notes on names that may mean none, or several."""
    counts = Counter(cells)
    for name in sorted(names & counts.keys()):
        yield Note(DOUBT, f"{what} {name}, in {counts[name]:,} rows, {why}.")


def _plain(name: str) -> Decimal | str:
    """Return a name by which those that look alike are the same."""
    words = " ".join(name.casefold().split())
    try:
        return Decimal(words) if words.isascii() and "_" not in words else words
    except InvalidOperation:
        return words


def last_bids(
    table: TextTable, auctions: Sequence[str], bidders: Sequence[str] | None,
    bids: Sequence[float], kind: str, date: str | None = None,
) -> tuple[list[bool], list[Note]]:  # fmt: skip
    """Return which rows count: in ascending sales the highest bid of each bidder.

    Args:
        table: The table, for its lines.
        auctions: Sale of each row.
        bidders: Bidder of each row, or None.
        bids: Bid of each row.
        kind: Format of the sales.
        date: The column of dates, or None.

    Raises:
        CannotRunError: Somebody bids twice in a sealed sale; the message names both lines.
    """
    if bidders is None:
        return [True] * len(bids), []
    best: dict[tuple[str, str], int] = {}
    for row, key in enumerate(zip(auctions, bidders, strict=True)):
        other = best.setdefault(key, row)
        if other != row and kind != ASCENDING:
            raise CannotRunError(_twice(table, key, other, row, date))
        if bids[row] > bids[other]:
            best[key] = row
    counts = set(best.values())
    lost = len(bids) - len(counts)
    why = f"{lost:,} rows are earlier bids of the same bidder; the highest one counts."
    return [row in counts for row in range(len(bids))], [Note(MERGED, why)] if lost else []


def _twice(table: TextTable, key: tuple[str, str], other: int, row: int, date: str | None) -> str:
    where = f"bids: line {table.lines[row]}: bidder {key[1]} bids twice in auction {key[0]}"
    first = f"first in line {table.lines[other]}"
    if table.rows[row] == table.rows[other]:
        return f"{where} ({first}, with the same cells); delete one, if the log has rows twice"
    if key[1].casefold() in _WAYS_TO_BID:
        return f"{where} ({first}); if {key[1]} means that nobody knows who, leave the cell empty"
    for name in table.names:
        if name != date and not _LOTS.fullmatch(name):
            continue
        cells = table.column(name)
        both = [cells[other], cells[row]]
        one, here = _days(both) if name == date else both
        if one != here:
            return (
                f"{where} ({first}), with {name} {one} and {here}; if names of sales are used "
                f"again, name each by its column and {name} together; else keep the bid that "
                "counted, or choose ascending sales (bid_log.format=ascending)"
            )
    return (
        f"{where} ({first}); a sealed sale takes one bid, so keep the one that counted, or choose "
        "ascending sales (bid_log.format=ascending)"
    )


def refuse_odd_sales(sales: Sequence[Sequence[float]]) -> list[Note]:
    """Refuse sums, copies, and sales whose bids are all equal; return doubts about single sales.

    Args:
        sales: Bids of each sale, rising.

    Raises:
        CannotRunError: The log has such rows.
    """
    _refuse_sums(sales)
    doubts = _refuse_copies(sales)
    several = [bids for bids in sales if len(bids) > 1]
    equal = sum(bids[0] == bids[-1] for bids in several)
    if several and equal >= _EQUAL * len(several):
        raise CannotRunError(
            f"bids: in {equal} of {len(several)} sales of two bids or more all bids are equal, so "
            "they tell nothing of values; give the bids that were made, not the prices"
        )
    return doubts


def _refuse_sums(sales: Sequence[Sequence[float]]) -> None:
    """Refuse a log if the highest bid is the sum of the others in most sales of three or more."""
    several = [bids for bids in sales if len(bids) >= 3]
    summed = sum(math.isclose(bids[-1], sum(bids[:-1]), rel_tol=1e-6) for bids in several)
    if len(set(map(tuple, several))) >= _DIFFERENT and summed > _SUMMED * len(several):
        raise CannotRunError(
            f"bids: in {summed} of {len(several)} sales of three rows or more the highest bid is "
            "the sum of the others, as in rows of totals; delete those rows"
        )


def _refuse_copies(sales: Sequence[Sequence[float]]) -> list[Note]:
    """Refuse a log if in many sales each bid stands there twice, or each sale does."""
    copied = sum(_is_copied(bids) for bids in sales)
    if copied >= _FEWEST and copied >= _COPIED * len(sales):
        raise CannotRunError(
            f"bids: in {copied} of {len(sales)} sales each bid stands there twice or more, as in a "
            "log that was appended to itself; delete the copies"
        )
    counts = Counter(tuple(bids) for bids in sales)
    if sales and reduce(math.gcd, counts.values()) > 1 and len(counts) >= _DIFFERENT:
        raise CannotRunError(
            "bids: the bids of each sale stand there again under another name of a sale; delete "
            "the copies"
        )
    why = f"In {copied} sales each bid stands there twice; if those are copies, delete them."
    return [Note(DOUBT, why)] if copied else []


def _is_copied(bids: Sequence[float]) -> bool:
    counts = Counter(bids)
    return len(counts) > 1 and reduce(math.gcd, counts.values()) > 1


def _rows(lines: Sequence[int]) -> str:
    """Return how many rows, and the lines of the first."""
    shown = ", ".join(map(str, lines[:_LISTED])) + (" …" if len(lines) > _LISTED else "")
    many = len(lines) != 1
    return f"{len(lines):,} row{'s' * many} (line{'s' * many} {shown})"
