"""The report says in plain words what to set, what it gains, how sure that is."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from daedalus.lab.bids.estimator import Estimate, Estimator
from daedalus.lab.bids.findings import Findings, amount, reserve_words, reserves_table
from daedalus.lab.bids.report import go_on, markdown, page
from daedalus.lab.bids.verdict import Policy
from tests.lab.bids.conftest import FIGURES, make_estimator
from tests.lab.bids.simulated import estimator_of_table, table_of

FURTHER = "What to go on with."


def test_a_change_is_told_first(findings: Findings) -> None:
    text = markdown(findings, FIGURES, FURTHER)
    read, said = text.split("\n\n")[1:3]
    assert read.startswith("- **Read**: 600 rows.")
    assert "**Used**: auction as the sale; bid as the bid." in read
    assert said.startswith("> **Set a reserve of ") and "95 % confidence" in said
    for heading in ("Beside other designs", "If an assumption fails", "Checks of the assumptions"):
        assert f"## {heading}\n" in text
    assert "3 (1 to 5)" in text and all(f"({path})" in text for path in FIGURES.values())


def test_a_failed_check_is_told_above_the_verdict(findings: Findings, tmp_path: Path) -> None:
    assert "Warning" not in markdown(findings, FIGURES, FURTHER)
    bad = findings.checks.assign(fails=[True, *[False] * (len(findings.checks) - 1)])
    text = markdown(replace(findings, checks=bad), FIGURES, FURTHER)
    warning = text.split("\n\n")[1]
    assert warning.startswith("> **Warning: ") and warning.count("\n") == 0
    assert bad["check"][0] in warning and bad["check"][1] not in warning
    made = page(text, "Log", tmp_path)
    assert re.search(r"</h1>\s*<blockquote>\s*<p><strong>Warning", made)
    assert "h1 + blockquote" in made


def test_each_assumption_has_its_row(findings: Findings) -> None:
    said = markdown(findings, FIGURES, FURTHER).partition("## Checks of the assumptions")[2]
    lines = [line for line in said.split("\n") if line.startswith("| ")]
    assert len(lines) == 2 + len(findings.checks)
    assert "passes, p = " in said and "| not tested | Not testable from bids." in said


def test_no_change_is_told_with_its_reason(findings: Findings) -> None:
    kept = replace(findings, verdict=replace(findings.verdict, change=False))
    said = markdown(kept, FIGURES, FURTHER).split("\n\n")[2]
    assert said.startswith("> **Change nothing: go on without a reserve.**")
    assert "No reserve surely brings more." in said
    reserved = make_estimator(1.0)
    unseen = replace(
        findings.verdict,
        change=False,
        unseen=True,
        in_force=Policy(findings.verdict.policy.mechanism, 1.0),
        policy=Policy(findings.verdict.policy.mechanism, 0.9),
        raised=(-1.0, -3.0, 1.0),  # told as 1 to 3 before
        reward=100.0,
    )
    text = markdown(replace(kept, verdict=unseen, estimator=reserved), FIGURES, FURTHER)
    assert "keep today's reserve.**" in text and "0.90 times today's" in text
    assert "would lose 1.0 % (a change of -3.0 to +1.0 %)" in text
    assert "Only a trial can tell" in text


def test_a_change_of_format_is_told(findings: Findings) -> None:
    mechanism = replace(findings.verdict.policy.mechanism, auction_type="vcg")
    verdict = replace(
        findings.verdict, policy=replace(findings.verdict.policy, mechanism=mechanism)
    )
    assert "and auction_type vcg" in markdown(replace(findings, verdict=verdict), FIGURES, FURTHER)


def test_the_page_holds_its_figures_and_only_its_tables_and_figures_scroll(tmp_path: Path) -> None:
    """Numbers stay beside their unit, and nothing of a log is taken for HTML."""
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "reserve.png").write_bytes(b"picture")
    tables = "5 % more\n\n| a |\n| --- |\n| 1 |\n\n| b |\n| --- |\n| 7 % |\n"
    text = f"# Title\n\n![Curve](figures/reserve.png)\n\n<script>\n\n{tables}"
    made = page(text, "A & B", tmp_path)
    body = made.partition("<body>")[2]
    assert "data:image/png;base64,cGljdHVyZQ==" in body and "figures/reserve" not in body
    assert "<title>A &amp; B</title>" in made and "<script>" not in made
    assert body.count('<div class="wide"') == body.count("</div>") == 3
    assert re.findall(r'label="(\w+),[^>]*><(\w+)', body) == [
        ("Figure", "img"), ("Table", "table"), ("Table", "table"),
    ]  # fmt: skip
    assert "5\N{NO-BREAK SPACE}% more" in body and "7\N{NO-BREAK SPACE}%" in body


def test_amounts_and_reserves_are_readable(estimator: Estimator, estimate: Estimate) -> None:
    assert (
        amount(13_704_254.9) == "13,700,000" and amount(0.151234) == "0.1512" and amount(0.0) == "0"
    )
    assert reserve_words(0.0, estimator, estimate) == "no reserve"
    assert reserve_words(2.0, estimator, estimate) == f"a reserve of {amount(2 * estimator.unit)}"
    assert reserve_words(1.0, make_estimator(1.0), estimate) == "today's reserve"


def test_sales_that_the_table_of_reserves_lacks_are_counted(findings: Findings) -> None:
    log = findings.estimator.log
    assert "`reserves.csv` has these sales." in markdown(findings, FIGURES, FURTHER)
    assert log.keep(np.arange(len(log.sales)) >= 3, "{} left out.").dropped == 3
    short = replace(findings, estimator=replace(findings.estimator, log=replace(log, dropped=3)))
    told = "`reserves.csv` has these sales, and lacks 3 that were dropped."
    assert told in markdown(short, FIGURES, FURTHER)


def test_a_trial_is_not_set_for_all_sales(findings: Findings) -> None:
    """A seller who took the column had changed all sales before the trial."""
    table = reserves_table(findings)
    assert (table["set"] == table["best_estimated"]).all() and (table["set"] > 0).all()
    off = findings.fit.assign(explained=0.1 * findings.fit["paid"])
    trial = replace(findings, fit=off)
    table = reserves_table(trial)
    assert (table["set"] == table["in_force"]).all() and (table["best_estimated"] > 0).all()
    assert "such sales take `best_estimated`" in markdown(trial, FIGURES, FURTHER)


def test_a_new_year_is_not_taken_for_the_first_one(findings: Findings) -> None:
    """All columns of years were 0 in a new year, which is the price level of the first one."""
    rng, sales = np.random.default_rng(0), 120
    bids, year = list(1.0 + rng.random((sales, 3))), ["1990", "1991", "1992"] * (sales // 3)
    table = table_of(bids, size=list(rng.random(sales)), sold=year)
    estimator = estimator_of_table(table, date="sold")
    estimate = estimator.estimate()
    assert "year 1992" in estimate.levels.slopes and "year 1990" not in estimate.levels.slopes
    told = go_on(replace(findings, estimator=estimator, estimate=estimate))
    assert "one with the first word: 1990 of year." in told
    assert "for a new year take the last one that has a column" in told
    plain = estimator_of_table(table_of(bids, size=list(rng.random(sales))))
    assert "first word" not in go_on(replace(findings, estimator=plain, estimate=plain.estimate()))
