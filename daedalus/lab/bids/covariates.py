"""Covariates: the columns that say what was sold, and why the others do not.

A covariate is known before the sale, and is the same in all rows of a sale. A column that differs
within a sale, that follows from its bids, or that only numbers the rows says nothing of the goods.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from daedalus.checks import CannotRunError
from daedalus.lab.bids.columns import Columns
from daedalus.lab.bids.settings import BidLogSettings
from daedalus.lab.bids.text_table import DOUBT, LEFT_OUT, USED, Note
from daedalus.lab.theory.distributions import Integers, Numbers

FEWEST = 10
"""Categories with fewer sales share one dummy."""

_SAME = 0.9  # share of the sales in which a column follows from the bids, from which it is a result
_SOLD = 0.3  # share of them in which it is a bid, and not 0 or the reserve
_ROUNDING = 1e-6
_OUTCOMES = re.compile(
    r"((sale|auction|lot|bid|final)[\W_]*)?(winner|winning[\W_]*bidder|buyer|status|result)s?"
    r"([\W_]*(name|id|no|number|code))?\W*",
    re.IGNORECASE,
)
"""Names of columns that are known after a sale."""
_SAY_SOLD = {"sold", "unsold", "not sold"}
_CLOSE = 1.0 - 1e-4  # correlation of logarithms with a result, such as a price and one with a tax


@dataclass(frozen=True)
class Sale:
    """The rows of the sales of a log.

    Attributes:
        number: The sale of each row, from 0, shape (L,).
        bids: The bid of each row, shape (L,).
        bidders: The bidder of each row, or None.
        reserves: The reserve of each row, or None, shape (L,).
    """

    number: Integers
    bids: Numbers
    bidders: Sequence[str] | None
    reserves: Numbers | None

    @property
    def first(self) -> Integers:
        """Return the first row of each sale, shape (A,)."""
        return np.asarray(np.unique(self.number, return_index=True)[1])

    def varies(self, values: Sequence[object]) -> int | None:
        """Return the first row whose value is not that of its sale's first row; None if none is."""
        codes = pd.factorize(np.asarray(values, dtype=object), use_na_sentinel=False)[0]
        other = codes != codes[self.first][self.number]
        return int(np.argmax(other)) if other.any() else None

    def tells_sold(self, values: Sequence[object]) -> bool:
        """Return whether values of the sales, A of them, tell those that reached their reserve.

        Those with fewer than ``FEWEST`` sales count as one, as in the regression.
        """
        if self.reserves is None:
            return False
        reached = self.bids >= self.reserves
        sold = np.bincount(self.number, reached) > 0
        counts = Counter(values)
        common = [value if counts[value] >= FEWEST else None for value in values]
        codes = pd.factorize(np.array(common, dtype=object), use_na_sentinel=False)[0]
        guess = (np.bincount(codes, sold) / np.bincount(codes) > 0.5)[codes]
        enough = min(sold.sum(), (~sold).sum()) >= FEWEST
        return bool(enough and guess[sold].mean() >= _SAME and (~guess[~sold]).mean() >= _SAME)

    def results(self) -> dict[str, Numbers]:
        """Return what follows from the bids of each sale, in words and numbers of shape (A,)."""
        order = np.lexsort([self.bids, self.number])
        rising, counts = self.bids[order], np.bincount(self.number)
        last = np.cumsum(counts) - 1
        sums = np.bincount(self.number, self.bids)
        return {
            "the number of bids": counts.astype(np.float64),
            "the highest bid": rising[last],
            "the second bid": rising[np.maximum(last - 1, last - counts + 1)],
            "the sum of the bids": sums,
            "the mean of the bids": sums / counts,
        }

    def are_prices(self, numbers: Numbers) -> bool:
        """Return whether numbers of the sales, shape (A,), are bids, or a reserve, or 0."""
        of_rows = numbers[self.number]
        is_bid = np.isclose(of_rows, self.bids, rtol=_ROUNDING, atol=0.0)
        reserves = np.zeros(1) if self.reserves is None else self.reserves
        is_other = (of_rows == 0.0) | (of_rows == reserves)
        bid, other = (np.bincount(self.number, each) > 0 for each in (is_bid, is_other))
        return bool(bid.mean() >= _SOLD and (bid | other).mean() >= _SAME)

    @property
    def winners(self) -> list[str]:
        """Return the bidder of the highest bid of each sale; none if bidders are not known."""
        if self.bidders is None:
            return []
        order = np.lexsort([self.bids, self.number])
        last = np.cumsum(np.bincount(self.number)) - 1
        return [self.bidders[row] for row in order[last]]


def covariates_of(
    columns: Columns, taken: Sequence[str], date: str | None, sale: Sale, settings: BidLogSettings
) -> tuple[pd.DataFrame, list[Note]]:
    """Return the covariates of each sale, and notes on what was used and what was not.

    Returns:
        A row for each sale, numbers as floats and words as texts, by the names of the log's
        columns; and the notes.

    Raises:
        CannotRunError: A column that is named cannot be used, or a cell is empty or of another
            kind than the rest of its column; the message names its line.
    """
    table = columns.table
    named = None if settings.covariates is None else set(_found(columns, settings.covariates))
    words = set(_found(columns, settings.words))
    chosen, notes = {}, []
    for name in table.names:
        if name in taken:
            continue
        if named is not None and name not in named:
            notes.append(Note(LEFT_OUT, f"{name}: bid_log.covariates does not name it."))
            continue
        outcome = named is None and _OUTCOMES.fullmatch(name) is not None
        values, kind, why = _read(columns, name, sale, name in words, outcome)
        if why is not None:
            if named is not None:
                raise CannotRunError(f"bids: column {name} cannot be a covariate: {why}")
            notes.append(Note(LEFT_OUT, f"{name}: {why}."))
            continue
        chosen[name] = values
        notes += [Note(USED, f"{name} as {kind}."), *_doubts(name, values)]
    frame = pd.DataFrame(chosen, index=range(len(sale.first)))
    if date is not None:
        name, (years, note) = "year", _years(columns, date, sale)
        notes.append(note)
        if years is not None:
            while name in frame:
                name = f"{name} of sale"
            frame[name] = years
    return frame, notes


def _found(columns: Columns, names: Sequence[str]) -> list[str]:
    return [columns.table.require({"covariates": name})["covariates"] for name in names]


def _read(
    columns: Columns, name: str, sale: Sale, words: bool, outcome: bool
) -> tuple[list[object], str, str | None]:
    """Return a column's value for each sale, what it is, and why it is not used, if so.

    A column that is called as an outcome is may be empty, as in sales that failed.
    """
    cells = columns.table.column(name)
    if not any(cells):
        return [], "", "it is empty"
    values: list[object] = list(cells)
    kind = "words"
    if not words and columns.are_numbers(name):
        found = columns.numbers(name)
        values = [np.nan if each is None else each for each in found.values]
        kind = f"numbers{f' ({found.unit})' if found.unit else ''}"
    row = sale.varies(values)
    if row is not None:
        first = sale.first[sale.number[row]]
        shown = f"{cells[first] or 'nothing'} and {cells[row] or 'nothing'}"
        where = f"lines {columns.table.lines[first]} and {columns.table.lines[row]}"
        return [], "", f"it differs within a sale ({shown}, {where})"
    if not outcome:
        _refuse_gaps(columns, name, values)
    of_sales = [values[place] for place in sale.first]
    why = _of_no_use(of_sales, kind != "words", sale)
    if outcome and why is None:
        why = "by its name it is known after the sale alone (bid_log.covariates takes it)"
    return of_sales, kind, why


def _refuse_gaps(columns: Columns, name: str, values: Sequence[object]) -> None:
    """Refuse a column with an empty cell."""
    gaps = [row for row, value in enumerate(values) if value == "" or value != value]
    if gaps:
        raise CannotRunError(
            f"bids: column {name} is empty in {len(gaps)} rows, first in line "
            f"{columns.table.lines[gaps[0]]}; fill it, or leave the column out "
            "(bid_log.covariates names those to use)"
        )


def _of_no_use(values: Sequence[object], are_numbers: bool, sale: Sale) -> str | None:
    """Return why the values of the sales say nothing of the goods; None if they do."""
    if len(set(values)) == 1:
        return "it is the same in all sales"
    words = {str(each).casefold() for each in values}
    if words & _SAY_SOLD or sale.tells_sold(values):
        return "it tells whether a sale sold, which nobody knows before"
    if not are_numbers:
        return _words_of_no_use(values, sale)
    numbers = np.asarray(values, dtype=np.float64)
    if np.array_equal(np.diff(np.sort(numbers)), np.ones(len(numbers) - 1)):
        return "it numbers the sales"
    if sale.are_prices(numbers):
        return "it is a price, which nobody knows before the sale"
    results = sale.results().items()
    found = next((what for what, result in results if _follows(numbers, result)), None)
    return f"it follows from {found}" if found else None


def _words_of_no_use(values: Sequence[object], sale: Sale) -> str | None:
    winners = sale.winners
    if winners and np.mean([a == b for a, b in zip(values, winners, strict=True)]) >= _SAME:
        return "it is the winner, who is not known before the sale"
    if max(Counter(values).values()) < FEWEST:
        return f"each of its words has fewer than {FEWEST} sales"
    return None


def _follows(numbers: Numbers, result: Numbers) -> bool:
    """Return whether numbers are a result, or nearly a power of it, such as a price with a tax.

    A price may be 0 in sales that failed.
    """
    if np.isclose(numbers, result, rtol=_ROUNDING, atol=0.0).mean() >= _SAME:
        return True
    paid = numbers > 0
    if (numbers < 0).any() or paid.mean() < _SOLD:
        return False
    return _correlation(np.log(numbers[paid]), np.log(result[paid])) > _CLOSE


def _correlation(first: Numbers, second: Numbers) -> float:
    one, other = first - first.mean(), second - second.mean()
    norm = float(np.sqrt((one @ one) * (other @ other)))
    return float(one @ other) / norm if norm > 0 else 0.0


def _doubts(name: str, values: Sequence[object]) -> Iterator[Note]:
    if "reserve" in name.casefold():
        hint = f"if it is the reserve in force, give bid_log.reserve={name}"
        yield Note(DOUBT, f"{name} counts as a covariate; {hint}.")
    words = pd.Series([each for each in values if isinstance(each, str)], dtype=object)
    counts = words.value_counts()
    rare = counts[counts < FEWEST]
    if len(rare):
        few = f"{len(rare)} word{'s' * (len(rare) > 1)} with fewer than {FEWEST} sales"
        yield Note(USED, f"{name}: {few} count as one category.")


def _years(columns: Columns, date: str, sale: Sale) -> tuple[list[str] | None, Note]:
    """Return the year of each sale, and a note; None if it says nothing."""
    years = columns.years(date)
    of_sales = [years[place] for place in sale.first]
    if sale.varies(years) is not None:
        return None, Note(LEFT_OUT, f"{date}: its year differs within a sale.")
    if len(set(of_sales)) == 1:
        return None, Note(LEFT_OUT, f"{date}: all sales are of the year {of_sales[0]}.")
    return of_sales, Note(USED, f"the year of {date} as words.")
