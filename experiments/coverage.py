"""Measure how often the intervals of a report on bids hold the truth."""

from __future__ import annotations

import itertools
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from daedalus.lab.studies.coverage import Job, as_markdown, coverage_table, intervals_of, overview
from daedalus.lab.studies.coverage_figures import coverage_dots
from daedalus.launch.config.tasks import Coverage
from daedalus.launch.tracked import tracked
from daedalus.runs.files import write_table, write_text
from daedalus.runs.workers import share_out


def main(config: Coverage, out: Path) -> None:
    """Simulate logs, estimate each, and write how often the truth lies in its intervals.

    It writes logs.csv, with the intervals of each log; coverage.csv; the same as coverage.md, for
    readers; and a figure.
    """
    with tracked(config, out) as (_, report):
        table = coverage_table(_rows(config, out / "logs.csv"), config.evaluation.confidence)
        report.table(table, "coverage")
        shown = overview(table)
        report.show(shown, "bias, and coverage of the intervals")
        write_text(out / "coverage.md", as_markdown(shown))
        report.figure(coverage_dots(table, config.evaluation.confidence), "coverage")


def _rows(config: Coverage, path: Path) -> pd.DataFrame:
    """Return the rows of all logs. The file has those of whole cells, so that a run can go on."""
    rows = pd.DataFrame({"kind": [], "sales": []})
    if path.exists():
        rows = pd.read_csv(path, float_precision="round_trip")
    asked = config.coverage
    cells = list(itertools.product(asked.kinds, asked.sales))
    for kind, sales in tqdm(cells, "kinds and sales", leave=False, disable=None):
        if not ((rows["kind"] == kind) & (rows["sales"] == sales)).any():
            found = pd.DataFrame(_cell(config, kind, sales))
            rows = pd.concat([rows, found], ignore_index=True) if len(rows) else found
            write_table(rows, path)
    return rows


def _cell(config: Coverage, kind: str, sales: int) -> list[dict[str, object]]:
    """Return the rows of the logs of one kind and number of sales."""
    asked, confidence = config.coverage, config.evaluation.confidence
    jobs = [
        Job(kind, sales, number, asked.resamples, config.seed, confidence, config.market,
            config.reward)
        for number in range(asked.logs)
    ]  # fmt: skip
    found = share_out(intervals_of, jobs, len(jobs))
    shown = tqdm(found, f"{kind}, {sales} sales", total=len(jobs), leave=False, disable=None)
    return [row for rows in shown for row in rows]
