"""A report on a log of bids as one web page, for visitors of the service."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from daedalus.lab.bids.settings import BidLogSettings
from daedalus.launch.config import compose_config
from daedalus.launch.config.compose import quoted
from daedalus.launch.config.tasks import FromBids
from daedalus.service.sessions.bid_reports import MadeReport

NEEDS = ("pandas", "scipy", "matplotlib", "seaborn", "markdown_it")
_LONGEST = 60  # characters of a name, which becomes that of a file
_FURTHER = (
    "`reserves.csv`, beside this report, has the reserve of each sale, in the money of the log. "
    "`python run.py +experiment=from_bids bids=FILE` also writes these bidders as a population of "
    "the market. What begins with `bid_log.` above is a setting of that command.\n"
)


def can_report() -> bool:
    """Return whether everything that a report needs is installed."""
    return all(find_spec(name) for name in NEEDS)


def report_on_bids(name: str, csv: str, settings: BidLogSettings, folder: str) -> MadeReport:
    """Return the report of ``+experiment=from_bids`` on a log, as an HTML page and reserves.

    Args:
        name: What the report calls the log.
        csv: The log.
        settings: How it is to be read.
        folder: An empty folder for files, which the caller removes.

    Raises:
        CannotRunError: The log cannot be used; the message says what is expected.
    """
    from daedalus.lab.bids.report import LAST, page
    from experiments import from_bids  # pandas and matplotlib are slow to import

    stem = file_stem(name)
    log, out = Path(folder) / f"{stem}.csv", Path(folder) / "run"
    log.write_text(csv, encoding="utf-8", newline="")
    out.mkdir()
    log_of = f"bids={quoted(str(log))}"
    config: FromBids = compose_config("+experiment=from_bids", log_of, "tracking=files")
    from_bids.main(replace(config, bid_log=settings), out)
    text = (out / "report.md").read_text(encoding="utf-8")
    text = f"{text.partition(LAST)[0]}{LAST}\n\n{_FURTHER}"
    reserves = (out / "reserves.csv").read_text(encoding="utf-8")
    return MadeReport(page(text, f"What to set: {stem}", out), reserves)


def file_stem(name: str) -> str:
    """Return a visitor's name of a log as one that any file may have: words, short, or ``bids``."""
    words = re.sub(r"[^\w-]+", " ", name)[:_LONGEST].strip()
    return words or "bids"
