"""A report on a log of bids as one web page, for visitors of the service."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from daedalus.bids.settings import BidLogSettings
from daedalus.config import compose_config
from daedalus.config.compose import quoted

NEEDS = ("pandas", "scipy", "matplotlib", "seaborn", "markdown_it")
_RESAMPLES = 40
_FURTHER = (
    f"This report comes from {_RESAMPLES} samples of the sales. `python run.py "
    "+experiment=from_bids bids=FILE` takes 200, and also writes these bidders as a population of "
    "the market.\n"
)


def can_report() -> bool:
    """Return whether everything that a report needs is installed."""
    return all(find_spec(name) for name in NEEDS)


def report_on_bids(csv: str, settings: BidLogSettings, folder: str) -> str:
    """Return the report of ``+experiment=from_bids`` on a log as an HTML page.

    Args:
        csv: The log.
        settings: How it is to be read.
        folder: An empty folder for files, which the caller removes.

    Raises:
        CannotRunError: The log cannot be used; the message says what is expected.
    """
    from daedalus.bids.report import LAST, page
    from experiments import from_bids  # pandas and matplotlib are slow to import

    log, out = Path(folder) / "bids.csv", Path(folder) / "run"
    log.write_text(csv, encoding="utf-8", newline="")
    out.mkdir()
    log_of = f"bids={quoted(str(log))}"
    config = compose_config("+experiment=from_bids", log_of, "tracking=files")
    from_bids.main(replace(config, bid_log=replace(settings, resamples=_RESAMPLES)), out)
    text = (out / "report.md").read_text(encoding="utf-8")
    return page(text.partition(LAST)[0] + f"{LAST}\n\n{_FURTHER}", "What to set", out)
