"""A report on a log of bids as one web page, for visitors of the service."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from daedalus.lab.bids.settings import BidLogSettings
from daedalus.lab.bids.text_table import parse_table
from daedalus.runs.files import write_table
from daedalus.service.sessions.bid_reports import MadeReport

if TYPE_CHECKING:
    from daedalus.lab.bids.analysis import Plan

NEEDS = ("pandas", "scipy", "matplotlib", "seaborn", "markdown_it")
_LONGEST = 60  # characters of a name, which becomes that of a file
_FURTHER = (
    "`reserves.csv`, beside this report, has the reserve of each sale of the estimate, in the "
    "money of the log. "
    "`python run.py +experiment=from_bids bids=FILE` also writes these bidders as a population of "
    "the market. What begins with `bid_log.` above is a setting of that command.\n"
)


def can_report() -> bool:
    """Return whether everything that a report needs is installed."""
    return all(find_spec(name) for name in NEEDS)


def report_on_bids(
    plan: Plan, name: str, csv: str, settings: BidLogSettings, folder: str
) -> MadeReport:
    """Return the report on a log, as an HTML page and reserves; files go into an empty folder.

    Raises:
        CannotRunError: The log cannot be used; the message says what is expected.
    """
    from daedalus.evaluation.run_report import save  # pandas is slow to import
    from daedalus.lab.bids.analysis import analyse
    from daedalus.lab.bids.estimator import Estimator
    from daedalus.lab.bids.figures import figures_of
    from daedalus.lab.bids.findings import reserves_table
    from daedalus.lab.bids.log import log_of
    from daedalus.lab.bids.report import markdown, page

    out, title = Path(folder), file_stem(name)
    log = log_of(parse_table(csv, settings), settings, title)
    findings = analyse(Estimator.of(log, settings), plan)
    drawn = figures_of(findings)
    for each, figure in drawn.items():
        save(figure, out / "figures" / f"{each}.png")
    paths = {each: f"figures/{each}.png" for each in drawn}
    text = markdown(findings, paths, _FURTHER)
    write_table(reserves_table(findings), out / "reserves.csv")
    reserves = (out / "reserves.csv").read_text(encoding="utf-8")
    return MadeReport(page(text, f"What to set: {title}", out), reserves)


def file_stem(name: str) -> str:
    """Return a visitor's name of a log as one that any file may have: words, short, or ``bids``."""
    words = re.sub(r"[^\w-]+", " ", name)[:_LONGEST].strip()
    return words or "bids"
