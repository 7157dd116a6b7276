"""Logs of bids: reading and checking."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from daedalus.bids.settings import ASCENDING, SECOND_PRICE, BidLogSettings
from daedalus.bids.timber import TIMBER, timber_table
from daedalus.checks import CannotRunError
from daedalus.market.population import MAX_BIDDERS

LEAST_AUCTIONS = 50
"""The fewest sales from which values are estimated."""

LEAST_OF_SIZE = 25
"""The fewest sales with one number of bidders that count."""

_MOST_RATIO = 50.0  # between typical bid and reserve; more are different units


@dataclass(frozen=True)
class BidLog:
    """Bids of A sales.

    Attributes:
        name: What reports and the population call the log: letters, digits and underscores.
        format: How the sales were held, one of ``FORMATS``.
        bids: All bids, in the money of the log, above 0, shape (L,).
        sale: The sale of each bid, from 0 to A - 1, shape (L,).
        sales: A row for each sale: ``auction``, its name in the log; ``bidders``, the number of its
            bids; ``reserve``, if the log has it; and the covariates.
        covariates: Names of the covariates.
        notes: Sentences that say what was left out.
    """

    name: str
    format: str
    bids: NDArray[np.float64]
    sale: NDArray[np.int64]
    sales: pd.DataFrame
    covariates: tuple[str, ...] = ()
    notes: tuple[str, ...] = field(default=())

    @property
    def bidders(self) -> NDArray[np.int64]:
        """Return the number of bidders of each sale, shape (A,)."""
        return self.sales["bidders"].to_numpy(np.int64)

    @property
    def reserves(self) -> NDArray[np.float64] | None:
        """Return the reserve of each sale in money, shape (A,), or None."""
        return self.sales["reserve"].to_numpy(np.float64) if "reserve" in self.sales else None

    @property
    def paid(self) -> NDArray[np.float64]:
        """Return what the winner of each sale of two bids or more paid, shape (A,).

        In second price it is the second bid or the reserve, and else the highest bid.
        """
        order = np.lexsort([self.bids, self.sale])
        last = np.cumsum(self.bidders) - 1
        if self.format != SECOND_PRICE:
            return np.asarray(self.bids[order][last])
        second = np.asarray(self.bids[order][last - 1])
        return second if self.reserves is None else np.maximum(second, self.reserves)

    def keep(self, sales: NDArray[np.bool_], note: str) -> BidLog:
        """Return the log with some of its sales; the note, which counts the others, may say {}."""
        if sales.all():
            return self
        bids, numbers = sales[self.sale], np.cumsum(sales) - 1
        left = self.sales[sales].reset_index(drop=True)
        notes = (*self.notes, note.format(f"{int((~sales).sum()):,}"))
        kept = numbers[self.sale[bids]]
        return BidLog(self.name, self.format, self.bids[bids], kept, left, self.covariates, notes)


def load_bids(source: str, settings: BidLogSettings) -> BidLog:
    """Read a log of bids and check it.

    Args:
        source: Path of a CSV file, or ``timber``.
        settings: Names of its columns, and the format of the sales.

    Raises:
        CannotRunError: The log cannot be read or used; the message says what is expected.
    """
    if not source:
        raise CannotRunError("bids: none; give bids=FILE, a CSV with a row for each bid, or timber")
    if source == TIMBER:
        return bid_log(timber_table(), settings, TIMBER)
    path = Path(source)
    try:
        table = pd.read_csv(path)
    except FileNotFoundError as error:
        raise CannotRunError(f"bids: {source}: no such file; give a CSV, or timber") from error
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        said = str(error).splitlines()[0]
        raise CannotRunError(
            f"bids: {source} cannot be read as a CSV file ({said}); give a table with a header and "
            "a row for each bid, in UTF-8"
        ) from error
    return bid_log(table, settings, re.sub(r"\W+", "_", path.stem))


def bid_log(table: pd.DataFrame, settings: BidLogSettings, name: str) -> BidLog:
    """Return a checked log.

    Args:
        table: A row for each bid.
        settings: Names of its columns, and the format of the sales.
        name: What reports call the log.

    Raises:
        CannotRunError: The log cannot be used; the message says what is expected.
    """
    _require_columns(table, [settings.auction, settings.bid, *(settings.covariates or [])])
    unnamed = table[settings.auction].isna()
    if unnamed.any():
        line = int(np.argmax(unnamed.to_numpy())) + 2
        raise CannotRunError(f"bids: column {settings.auction}, line {line}: it is empty; name it")
    table = table.reset_index(drop=True)
    bids = _amounts(table, settings.bid, "a bid of 0 is no bid, so leave its row out", above=True)
    table = table.assign(**{settings.bid: bids}).sort_values(settings.auction, kind="stable")
    table = _one_bid_each(table, settings)
    number, labels = pd.factorize(table[settings.auction])
    covariates = _covariates(table, settings)
    columns = {"auction": labels, "bidders": np.bincount(number)}
    sales = pd.DataFrame(columns) if len(labels) else pd.DataFrame({"auction": [], "bidders": []})
    if settings.reserve in table:
        hint = "write 0 where there was no reserve"
        sales["reserve"] = _of_sales(number, _amounts(table, settings.reserve, hint))
    for column, values in covariates.items():
        sales[column] = _of_sales(number, values)
    log = BidLog(
        name,
        settings.format,
        table[settings.bid].to_numpy(np.float64),
        number.astype(np.int64),
        sales,
        tuple(covariates),
    )
    _check_units(log, settings)
    return _usable(log, settings)


def _require_columns(table: pd.DataFrame, names: Sequence[str]) -> None:
    missing = [name for name in names if name not in table]
    if missing:
        raise CannotRunError(
            f"bids: no column {', '.join(missing)} among {', '.join(map(str, table.columns))}; "
            "rename yours, or name them as in bid_log.bid=amount"
        )


def _amounts(table: pd.DataFrame, column: str, hint: str, above: bool = False) -> pd.Series[float]:
    """Return a column as numbers from 0 up, or above 0; refuse others with the line of the first.

    Raises:
        CannotRunError: There is another value.
    """
    numbers = pd.to_numeric(table[column], errors="coerce").astype(np.float64)
    checks: list[tuple[pd.Series[bool], str]] = [
        (numbers.isna() | np.isinf(numbers), "is no number; write digits alone, such as 1250.50"),
        (numbers < 0, "is negative; give amounts that buyers would pay, from 0 up"),
        (numbers == 0 if above else numbers < 0, f"stands there; {hint}"),
    ]
    for bad, what in checks:
        if bad.any():
            row = table.index[int(np.argmax(bad.to_numpy()))]
            shown = table[column][row]
            raise CannotRunError(f"bids: column {column}, line {row + 2}: {shown} {what}")
    return numbers


def _one_bid_each(table: pd.DataFrame, settings: BidLogSettings) -> pd.DataFrame:
    """Return the last bid of each bidder of an ascending sale; refuse two in a sealed one."""
    if settings.bidder not in table:
        return table
    keys = [settings.auction, settings.bidder]
    twice = table.duplicated(keys)
    if settings.format == ASCENDING:
        highest = table.sort_values(settings.bid, kind="stable").drop_duplicates(keys, keep="last")
        return highest.sort_values(settings.auction, kind="stable")
    if twice.any():
        auction, bidder = table.loc[twice, keys].iloc[0]
        raise CannotRunError(
            f"bids: bidder {bidder} bids twice in auction {auction}; a sealed sale takes one bid, "
            "so keep the one that counted, or give bid_log.format=ascending"
        )
    return table


def _covariates(table: pd.DataFrame, settings: BidLogSettings) -> dict[str, pd.Series[Any]]:
    taken = [settings.auction, settings.bid, settings.bidder, settings.reserve, settings.date]
    names = settings.covariates
    if names is None:
        names = [str(name) for name in table if name not in taken]
    found = {name: table[name] for name in names}
    if settings.date in table:
        dates = pd.to_datetime(table[settings.date], errors="coerce", format="ISO8601")
        if dates.isna().any():
            row = int(np.argmax(dates.isna().to_numpy()))
            shown = table[settings.date].iloc[row]
            raise CannotRunError(f"bids: {shown!r} is no date; write dates as 1990-01-31")
        found["year"] = dates.dt.year.astype(str)
    for name, values in found.items():
        if values.isna().any():
            raise CannotRunError(
                f"bids: column {name} is empty in {int(values.isna().sum())} rows; fill it, or "
                "name the covariates to use in bid_log.covariates"
            )
    return found


def _of_sales(number: NDArray[np.int64], values: pd.Series[Any]) -> NDArray[Any]:
    """Return the value of each sale's first row; rows of a sale are beside each other."""
    first = np.flatnonzero(np.diff(number, prepend=-1))
    return np.asarray(values.to_numpy()[first])


def _check_units(log: BidLog, settings: BidLogSettings) -> None:
    """Refuse bids and reserves in different units.

    Raises:
        CannotRunError: Typically one is many times the other.
    """
    if log.reserves is None or not (log.reserves > 0).any():
        return
    reserves = log.reserves[log.sale]
    ratio = float(np.median(log.bids[reserves > 0] / reserves[reserves > 0]))
    if not 1.0 / _MOST_RATIO < ratio < _MOST_RATIO:
        raise CannotRunError(
            f"bids: the typical bid is {ratio:.3g} times the reserve, which looks like two units "
            f"(cents and dollars, or totals and prices for each unit); give columns {settings.bid} "
            f"and {settings.reserve} in the same unit"
        )


def _usable(log: BidLog, settings: BidLogSettings) -> BidLog:
    """Return the sales from which values can be estimated.

    Raises:
        CannotRunError: They are too few.
    """
    sizes, several = log.bidders, log.bidders >= 2
    if len(sizes) and several.mean() < 0.5:
        raise CannotRunError(
            f"bids: {int((~several).sum())} of {len(sizes)} auctions have one bid, as in a log of "
            f"winning bids; give a row for every bid, with its sale in column {settings.auction}"
        )
    log = log.keep(several, "{} sales with one bid are left out: one bid tells nothing of rivals.")
    counts = np.bincount(log.bidders, minlength=1)
    common = (counts[log.bidders] >= LEAST_OF_SIZE) & (log.bidders <= MAX_BIDDERS)
    if common.sum() < LEAST_AUCTIONS:
        raise CannotRunError(
            f"bids: {len(log.bidders)} auctions with two bids or more, of which "
            f"{int(common.sum())} have a number of bidders that {LEAST_OF_SIZE} share; give at "
            f"least {LEAST_AUCTIONS} such auctions"
        )
    return log.keep(
        common,
        f"{{}} sales are left out because fewer than {LEAST_OF_SIZE} share their number "
        "of bidders.",
    )
