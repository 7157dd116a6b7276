"""Logs of bids: from a table of text to sales with their bids."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from daedalus.checks import CannotRunError
from daedalus.lab.bids.cleaning import (
    Roles,
    auctions_of,
    bidders_of,
    last_bids,
    name_of,
    refuse_odd_sales,
    refuse_pooled,
    require_log,
    without_totals,
)
from daedalus.lab.bids.columns import Columns, Numbers
from daedalus.lab.bids.covariates import Sale, covariates_of
from daedalus.lab.bids.potential import MOST, Potential, excludes, is_binomial, potential_of
from daedalus.lab.bids.settings import ASCENDING, FIRST_PRICE, SECOND_PRICE, TIMBER, BidLogSettings
from daedalus.lab.bids.text_table import (
    DOUBT,
    DROPPED,
    LEFT_OUT,
    READ,
    USED,
    Note,
    TextTable,
    parse_table,
    read_table,
)
from daedalus.lab.bids.timber import timber_table
from daedalus.market.population import MAX_BIDDERS

LEAST_AUCTIONS = 50
"""The fewest sales from which values are estimated."""

LEAST_OF_SIZE = 25
"""The fewest sales with one number of bidders that count."""

_LISTED = 3  # names of sales in a note
_MOST_RATIO = 50.0  # between typical bid and reserve; more are different units
_BARE = 0.05  # share of sales without a reserve up to which they are left out


@dataclass(frozen=True)
class BidLog:
    """Bids of A sales. Nothing in it depends on the order of the rows or on the names of sales.

    Bids stand sale by sale, and rise in each.

    Attributes:
        name: What reports call the log: the name of its file.
        format: How the sales were held, one of ``LOG_FORMATS``.
        bids: All bids, in the money of the log, above 0, shape (L,).
        sale: The sale of each bid, from 0 to A - 1, shape (L,).
        sales: A row for each sale: ``auction``, its name in the log; ``bidders``, the number of its
            bids; and ``reserve``, if the log has it.
        covariates: A row for each sale, by the names of the log's columns.
        notes: What was read, used, left out, dropped, merged, or taken as missing.
        bidder: The name of the bidder of each bid, "" if unknown, shape (L,); None if the log has
            no names.
        lacks_sizes: Whether sales with a rare number of bids were left out, since the log did not
            tell who could have come. Without them it would seem to.
        dropped: Number of sales of the file that are no part of it.
    """

    name: str
    format: str
    bids: NDArray[np.float64]
    sale: NDArray[np.int64]
    sales: pd.DataFrame
    covariates: pd.DataFrame
    notes: tuple[Note, ...] = ()
    bidder: NDArray[np.str_] | None = None
    lacks_sizes: bool = False
    dropped: int = 0

    @property
    def population(self) -> str:
        """Return the name of the log's population: a word that the command line takes as it is."""
        return "log_" + re.sub(r"[^A-Za-z0-9]+", "_", self.name).strip("_")

    @property
    def bidders(self) -> NDArray[np.int64]:
        """Return the number of bidders of each sale, shape (A,)."""
        return self.sales["bidders"].to_numpy(np.int64)

    @property
    def reserves(self) -> NDArray[np.float64] | None:
        """Return the reserve of each sale in money, shape (A,), or None."""
        return self.sales["reserve"].to_numpy(np.float64) if "reserve" in self.sales else None

    @property
    def sold(self) -> NDArray[np.bool_]:
        """Return whether the highest bid of each sale reached its reserve, shape (A,)."""
        highest = self.bids[np.cumsum(self.bidders) - 1]
        return highest >= (0.0 if self.reserves is None else self.reserves)

    @property
    def paid(self) -> NDArray[np.float64]:
        """Return what each sale of two bids or more earned, shape (A,): 0 if it did not sell.

        In second price it is the second bid or the reserve, and else the highest bid.
        """
        last = np.cumsum(self.bidders) - 1
        price = self.bids[last]
        if self.format == SECOND_PRICE:
            price = self.bids[last - 1]
            price = price if self.reserves is None else np.maximum(price, self.reserves)
        return np.where(self.sold, price, 0.0)

    def potential(self, bidders: int | None) -> Potential | None:
        """Return who could have come, if the reserve kept bidders away from sealed sales.

        Args:
            bidders: Number of potential bidders. None takes the largest number of bids of a sale;
                it finds no one if bids of first-price sales do not begin at the reserve, if numbers
                of bids vary more than that number explains, or if rare numbers were left out.

        Raises:
            CannotRunError: The number was given, and the log cannot have it.
        """
        sizes = self.bidders
        if bidders is not None:
            self._require_potential(bidders)
            found = potential_of(sizes, np.ones(len(sizes)), bidders)
            if found.excluded >= MOST:
                raise CannotRunError(
                    f"bid_log.potential_bidders={bidders}: nearly all sales have two bids, so the "
                    "log does not tell how many stayed away; give fewer, or leave this out"
                )
            return found
        if self.format != FIRST_PRICE or self.reserves is None or self.lacks_sizes:
            return None
        if (self.reserves == 0).any() or not excludes(self.bids, self.reserves[self.sale]):
            return None
        found = potential_of(sizes, np.ones(len(sizes)), int(sizes.max()))
        told = found.excluded < MOST and is_binomial(sizes, found)
        return found if told else None

    def _require_potential(self, bidders: int) -> None:
        why = None
        if self.format == ASCENDING:
            why = "ascending sales have no such estimate; leave it out"
        elif self.reserves is None or (self.reserves == 0).any():
            why = "it needs a reserve above 0 for every sale; name its column, or leave this out"
        elif bidders < self.bidders.max():
            why = f"a sale has {self.bidders.max()} bids; give at least as many"
        if why:
            raise CannotRunError(f"bid_log.potential_bidders={bidders}: {why}")

    def keep(self, sales: NDArray[np.bool_], note: str) -> BidLog:
        """Return the log with some of its sales; {} in the note becomes the others."""
        if sales.all():
            return self
        bids, numbers = sales[self.sale], np.cumsum(sales) - 1
        lost = self.sales["auction"][~sales].tolist()
        shown = f"{', '.join(lost[:_LISTED])}{' …' if len(lost) > _LISTED else ''}"
        told = Note(DROPPED, note.format(f"{len(lost):,} sale{'s' * (len(lost) > 1)} ({shown})"))
        return replace(
            self,
            bids=self.bids[bids],
            sale=numbers[self.sale[bids]],
            sales=self.sales[sales].reset_index(drop=True),
            covariates=self.covariates[sales].reset_index(drop=True),
            notes=(*self.notes, told),
            bidder=None if self.bidder is None else self.bidder[bids],
            dropped=self.dropped + len(lost),
        )


def load_bids(source: str, settings: BidLogSettings) -> BidLog:
    """Read a log of bids, a CSV file or ``timber``, and check it.

    Raises:
        CannotRunError: The log cannot be read or used; the message says what is expected.
    """
    require_log(source, settings)
    if source == TIMBER:
        return bid_log(timber_table(), settings, TIMBER)
    path = Path(source)
    return log_of(read_table(path, settings), settings, path.stem)


def bid_log(table: pd.DataFrame, settings: BidLogSettings, name: str) -> BidLog:
    """Return a checked log of a data frame; its first row counts as line 2.

    It has a row for each bid. Columns of categories are words, whatever they look like.

    Raises:
        CannotRunError: The log cannot be used; the message says what is expected.
    """
    words = list(map(str, table.select_dtypes("category")))
    chosen = replace(settings, separator=",", words=[*settings.words, *words])
    text = parse_table(table.to_csv(index=False), chosen)
    read, *others = text.notes
    told = replace(read, text=f"{len(table):,} rows.")  # of no file
    return log_of(replace(text, notes=(told, *others)), chosen, name)


def log_of(table: TextTable, settings: BidLogSettings, name: str) -> BidLog:
    """Return a checked log of a table of text.

    Raises:
        CannotRunError: The log cannot be used; the message says what is expected.
    """
    roles = Roles.of(table, settings)
    table = without_totals(table, roles)
    if not len(table.rows):
        raise CannotRunError("bids: the file has no bid below its header; give a row for each bid")
    amounts = roles.amounts(table.names)
    columns = Columns(table, settings.decimal, roles.names, amounts)
    found = columns.amounts(roles.bid, "a bid of 0 is no bid, so leave its row out", above=True)
    bids = [float(each) for each in found.values if each is not None]
    (auctions, alike), (bidders, unknown) = auctions_of(table, roles), bidders_of(table, roles)
    pooled = refuse_pooled(table, auctions, roles)
    counted, merged = last_bids(table, auctions, bidders, bids, settings.format, roles.date)
    notes = (*table.notes, *_used(roles, found, settings), *alike, *unknown, *pooled, *merged)
    rows = np.flatnonzero(counted)
    decimal = found.decimal or settings.decimal
    columns = Columns(table.at(rows), decimal, roles.names, amounts)
    sale = Sale(
        pd.factorize(np.array(auctions, dtype=object)[rows])[0],
        np.array(bids)[rows],
        None if bidders is None else [bidders[row] for row in rows],
        _reserves(columns, roles),
    )
    covariates, told = covariates_of(columns, roles.taken, roles.date, sale, settings)
    log = _in_order(_assembled(columns, roles, sale, covariates, settings, name))
    sales = np.split(log.bids, np.cumsum(log.bidders)[:-1])
    doubts = refuse_odd_sales([bids.tolist() for bids in sales])
    _check_units(log, settings)
    return usable(_with_reserves(replace(log, notes=(*notes, *told, *doubts))), settings)


def _reserves(columns: Columns, roles: Roles) -> NDArray[np.float64] | None:
    """Return the reserve of each row, or None if the log has none."""
    if roles.reserve is None:
        return None
    hint = "write 0 where there was no reserve"
    found = columns.amounts(roles.reserve, hint).values
    return np.array([float(each) for each in found if each is not None])


def _assembled(
    columns: Columns, roles: Roles, sale: Sale, covariates: pd.DataFrame,
    settings: BidLogSettings, name: str,
) -> BidLog:  # fmt: skip
    """Return the log, with its sales in the order of the file."""
    auctions = columns.table.column(roles.auction)
    sales = pd.DataFrame({"auction": [auctions[row] for row in sale.first]}, dtype=object)
    sales["bidders"] = np.bincount(sale.number)
    if sale.reserves is not None:
        row = sale.varies(sale.reserves.tolist())
        if row is not None:
            raise CannotRunError(
                f"bids: column {roles.reserve}, line {columns.table.lines[row]}: auction "
                f"{auctions[row]} has another reserve in line "
                f"{columns.table.lines[sale.first[sale.number[row]]]}; give each sale one"
            )
        sales["reserve"] = sale.reserves[sale.first]
    names = None if sale.bidders is None else np.array([name_of(each) for each in sale.bidders])
    return BidLog(name, settings.format, sale.bids, sale.number, sales, covariates, bidder=names)


def _in_order(log: BidLog) -> BidLog:
    """Return the log with its sales in an order that their contents alone decide.

    So the draws of the bootstrap do not depend on the order of the rows, or on names of sales.
    """
    names = np.zeros(len(log.bids)) if log.bidder is None else log.bidder
    order = np.lexsort([names, log.bids, log.sale])
    bids = np.split(log.bids[order], np.cumsum(log.bidders)[:-1])
    who = np.split(names[order], np.cumsum(log.bidders)[:-1])
    others = log.sales.drop(columns="auction").join(log.covariates, rsuffix=" ")
    rest = [tuple(map(str, row)) for row in others.itertuples(index=False)]
    keys = [
        (tuple(each), row, tuple(map(str, of)))
        for each, row, of in zip(bids, rest, who, strict=True)
    ]
    places = sorted(range(len(keys)), key=keys.__getitem__)
    return replace(
        log,
        bids=np.concatenate([bids[place] for place in places]),
        bidder=None if log.bidder is None else np.concatenate([who[place] for place in places]),
        sale=np.repeat(np.arange(len(places)), log.bidders[places]),
        sales=log.sales.iloc[places].reset_index(drop=True),
        covariates=log.covariates.iloc[places].reset_index(drop=True),
    )


def _used(roles: Roles, bids: Numbers, settings: BidLogSettings) -> list[Note]:
    """Return notes on the columns that have a role."""
    mark = {".": "a point", ",": "a comma"}.get(bids.decimal, "not there")
    read = f"The decimal mark of bids is {mark}{f', their unit {bids.unit}' if bids.unit else ''}."
    meant = {"sale": roles.auction, "bid": roles.bid, "bidder": roles.bidder}
    meant |= {"reserve in force": roles.reserve, "date": roles.date}
    told = [f"{name} as the {role}" for role, name in meant.items() if name is not None]
    notes = [Note(READ, read), Note(USED, f"{'; '.join(told)}.")]
    if roles.bidder is None and settings.format == ASCENDING:
        notes.append(Note(USED, "No column of bidders: each row counts as another bidder."))
    return notes


def _with_reserves(log: BidLog) -> BidLog:
    """Return the log without sales that lack a reserve, if they are few; else a note tells them."""
    if log.reserves is None or (log.reserves > 0).all():
        return log
    bare = log.reserves == 0
    if bare.mean() <= _BARE:
        return log.keep(~bare, "{} without a reserve left out: nearly all others have one.")
    note = Note(LEFT_OUT, "The reserve is 0 in all sales: there is none.")
    if not bare.all():
        of = f"{int(bare.sum()):,} of {len(bare):,} sales"
        note = Note(DOUBT, f"{of} have no reserve, so none counts as in force.")
    return replace(log, notes=(*log.notes, note))


def _check_units(log: BidLog, settings: BidLogSettings) -> None:
    """Refuse bids and reserves in different units."""
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


def usable(log: BidLog, settings: BidLogSettings) -> BidLog:
    """Return the sales from which values can be estimated.

    Raises:
        CannotRunError: They are too few, or fewer could have come than did.
    """
    sizes, several = log.bidders, log.bidders >= 2
    if len(sizes) and several.mean() < 0.5:
        raise CannotRunError(
            f"bids: {int((~several).sum())} of {len(sizes)} auctions have one bid, as in a log of "
            "winning bids; give a row for every bid, with its sale in the column of sales"
        )
    log = log.keep(several, "{} with one bid left out: one bid tells nothing of rivals.")
    many = f"{{}} with more than {MAX_BIDDERS} bids left out: the market takes no more."
    log = log.keep(log.bidders <= MAX_BIDDERS, many)
    enough = len(log.sales) >= LEAST_AUCTIONS
    counted = enough and log.potential(settings.potential_bidders) is not None
    return log if counted else of_common_sizes(log)


def of_common_sizes(log: BidLog) -> BidLog:
    """Return the sales whose number of bidders enough of them share.

    Raises:
        CannotRunError: They are too few.
    """
    common = np.bincount(log.bidders, minlength=1)[log.bidders] >= LEAST_OF_SIZE
    if common.sum() < LEAST_AUCTIONS:
        raise CannotRunError(
            f"bids: {len(log.bidders)} auctions with two bids or more, of which "
            f"{int(common.sum())} have a number of bidders that {LEAST_OF_SIZE} share; give at "
            f"least {LEAST_AUCTIONS} such auctions"
        )
    if common.all():
        return log
    why = f"{{}} left out: fewer than {LEAST_OF_SIZE} sales share their number of bidders."
    return replace(log.keep(common, why), lacks_sizes=True)
