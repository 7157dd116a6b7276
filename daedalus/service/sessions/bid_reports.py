"""Reports on logs of bids that visitors send: one at a time, in a process of its own."""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
from collections.abc import Callable
from csv import Error, reader
from dataclasses import dataclass
from io import StringIO
from tempfile import TemporaryDirectory

from daedalus.checks import CannotRunError
from daedalus.lab.bids.cleaning import Roles
from daedalus.lab.bids.settings import SEPARATORS, BidLogSettings
from daedalus.lab.bids.text_table import parse_table
from daedalus.service.openenv.errors import CapacityError, bounded
from daedalus.service.sessions.shared_answers import SharedAnswers
from daedalus.service.sessions.worker import Worker


@dataclass(frozen=True)
class MadeReport:
    """A report.

    Attributes:
        page: The report as HTML.
        reserves: The reserve of each sale as CSV.
    """

    page: str
    reserves: str


ReportOn = Callable[[str, str, BidLogSettings, str], MadeReport]
"""Makes the report on a CSV of bids: takes the name of the log, the CSV, how to read it, and a
folder for files that do not stay. It can be pickled."""

MOST_ROWS, MOST_COLUMNS = 20_000, 20
KEPT = 16
"""Number of reports that stay in memory, for the page to show."""

_WAITING = 4  # reports under way; each takes about half a minute
_LATER = 15.0  # seconds
_LONGEST = 400  # characters of a reason, which may quote the log
_SETTING = re.compile(r" ?\(bid_log\.[^)]{0,300}\)")  # advice for the command line
_END_OF_LINE = re.compile(r"\r\n|\r|\n")


class BidLogError(ValueError):
    """There is no report on a log; the message says why, and what to send instead."""


class BidReports:
    """Makes reports in a process of their own. Nothing of a log stays on the disk.

    Args:
        report_on: Makes a report; None if this server cannot.
        seconds: Longest time of a report.
    """

    def __init__(self, report_on: ReportOn | None, seconds: float) -> None:
        self._report_on = report_on
        self._seconds = seconds
        self._reports: SharedAnswers[MadeReport] = SharedAnswers("reports", _WAITING, KEPT)
        self._key = secrets.token_bytes(32)

    def close(self) -> None:
        """End the report under way, and take no more."""
        self._reports.close()

    @property
    def available(self) -> bool:
        """Return whether this server makes reports."""
        return self._report_on is not None

    async def make(
        self,
        log: str,
        csv: str,
        settings: BidLogSettings,
        visitor: str,
        left: asyncio.Future[None] | None = None,
    ) -> str:
        """Make a report, and return the name under which ``get`` has it.

        Args:
            log: What the report calls the log.
            csv: The log.
            settings: How it is to be read.
            visitor: Who asks. Each has one report under way.
            left: Is done when the visitor has left. Then the report ends, and another may begin.

        Raises:
            BidLogError: The log cannot be used, or its report takes too long.
            CapacityError: The visitor has a report under way, or too many others have.
        """
        await asyncio.to_thread(check_shape, csv, settings)
        name = hashlib.blake2b(
            f"{settings}\n{log}\n{csv}".encode(), key=self._key, digest_size=16
        ).hexdigest()
        if not self._reports.claim(visitor, name):
            raise CapacityError("a report for your address is being made; wait for it", _LATER)
        if not self._reports.has_place(name):
            full = f"{self._reports.waiting} reports are being made; try again later"
            raise CapacityError(full, _LATER)
        patience = (_WAITING + 1) * self._seconds  # the others come first
        worker = Worker(self._seconds)
        _, why = await self._reports.ask_in_words(
            "the report",
            name,
            lambda: self._made(worker, log, csv, settings),
            patience,
            left,
            worker.close,
        )
        if why is not None:
            raise BidLogError(for_visitors(why))
        return name

    def get(self, name: str) -> MadeReport | None:
        """Return a report; None if there is none of this name any more."""
        return self._reports.lookup(name)

    def _made(self, worker: Worker, log: str, csv: str, settings: BidLogSettings) -> MadeReport:
        assert self._report_on is not None
        with TemporaryDirectory() as folder:  # is removed here, since the worker may be ended
            return worker.run(self._report_on, log, csv, settings, folder)


def for_visitors(reason: str) -> str:
    """Return a reason without what it says of the command line."""
    return bounded(_SETTING.sub("", reason).removeprefix("bids: "), _LONGEST)


def check_shape(csv: str, settings: BidLogSettings) -> None:
    """Refuse a log that is no table with the columns of a log, or too large to be looked at.

    Raises:
        BidLogError: It is no text, has too many rows or columns, or does not fit its header.
    """
    try:
        csv.encode()
    except UnicodeEncodeError as error:
        raise BidLogError("the CSV is no text in UTF-8; save it so, then send it again") from error
    rows = len(_END_OF_LINE.findall(csv.rstrip("\r\n")))  # below the header
    columns = max(_columns(csv, mark) for mark in SEPARATORS)
    if rows < 1 or columns < 2:
        raise BidLogError(
            "this is no table; send a CSV with a header, columns auction and bid, and a row a bid"
        )
    if rows > MOST_ROWS:
        raise BidLogError(f"the CSV has {rows} rows; send {MOST_ROWS} at most, of whole auctions")
    if columns > MOST_COLUMNS:
        raise BidLogError(f"the CSV has {columns} columns; send {MOST_COLUMNS} at most")
    try:
        Roles.of(parse_table(csv, settings), settings)
    except CannotRunError as error:
        raise BidLogError(for_visitors(str(error))) from error


def _columns(csv: str, separator: str) -> int:
    """Return the number of columns in the header; 0 if there is none."""
    try:
        return len(next(reader(StringIO(csv, newline=""), delimiter=separator), []))
    except Error:
        return 0
