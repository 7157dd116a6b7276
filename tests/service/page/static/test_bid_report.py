"""A visitor's own log of bids: the form, the report, and what is wrong with a log in words."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.lab.bids.simulated import first_price_bids, table_of, uniform
from tests.service.page.static.visitor import Visit, at_own_site
from tests.service.sessions.test_worker import behind, echoing, stored

pytestmark = pytest.mark.slow
HOSTILE = "<img src=x onerror=alert(1)>"


def test_a_log_becomes_a_report_in_a_frame_that_may_do_nothing(
    visit: Visit, catalogue, tmp_path: Path, hostile_report: Path
) -> None:
    (tmp_path / "good.csv").write_text("auction,bid\n1,2\n1,3\n")
    (tmp_path / "bad.csv").write_text(f"auction,bid\n1,{HOSTILE}\n1,2\n")
    (tmp_path / "latin.csv").write_bytes("auction,bid,straße\n1,2,ü\n1,3,ü\n".encode("latin-1"))
    (tmp_path / "long.csv").write_text("1,2\n" * 300_000)
    report_on = partial(stored, hostile_report)
    with at_own_site(visit, catalogue, report_on=report_on, report_timeout=240.0) as visitor:
        page, said = visitor.page, visitor.page.locator("#bids-said")
        for name, why in (
            ("long", "The file is too long"),
            ("latin", "bid,straße 1,2,ü 1,3,ü"),
            ("bad", f"1,{HOSTILE} 1,2"),
        ):
            page.set_input_files("#bids-file", tmp_path / f"{name}.csv")
            page.click("#bids-send")
            expect(said).to_contain_text(why, timeout=120_000)
            expect(said).to_have_class("said problem")
            expect(page.locator("#bids img, #bids-report[src]")).to_have_count(0)
        page.set_input_files("#bids-file", tmp_path / "good.csv")
        page.click("#bids-send")
        expect(said).to_have_text("The report is ready.", timeout=240_000)
        expect(page.locator("#bids-view")).to_be_visible()
        report = page.frame_locator("#bids-report")
        expect(report.get_by_role("heading", level=1)).to_have_text(
            "What to set: script alert 2 script"
        )
        expect(report.locator("img")).to_have_count(4)
        assert report.locator("img").first.evaluate("each => each.naturalWidth") > 100
        assert page.locator("#bids-report").get_attribute("sandbox") == ""
        for kind, start in (("report", "<!doctype html>"), ("reserves", "auction,bidders,")):
            with page.expect_download() as waiting:
                page.click(f"#bids-view .save-{kind}")
            assert waiting.value.path().read_text().startswith(start)
        page.click("#bids-close")
        expect(page.locator("#bids-view")).to_be_hidden()
        page.click("#bids-read")
        expect(page.locator("#bids-view")).to_be_visible()
        visitor.complaints = [each for each in visitor.complaints if "422" not in each]


def test_columns_are_named_on_the_page_and_a_wrong_choice_is_refused_at_once(
    visit: Visit, catalogue, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    bids = [100.0 * row for row in first_price_bids(uniform, 3, 60, rng)]
    table = table_of(bids).rename(columns={"auction": "Number", "bid": "Amount, EUR"})
    table.to_csv(tmp_path / "export.csv", index=False, sep=";", decimal=",")
    with at_own_site(visit, catalogue, report_on=echoing, report_timeout=240.0) as visitor:
        page, said = visitor.page, visitor.page.locator("#bids-said")
        expect(page.locator("#bids-columns")).to_be_hidden()
        page.set_input_files("#bids-file", tmp_path / "export.csv")
        page.click("#bids-send")
        expect(said).to_have_text("Choose the column that names the sale.")
        assert not any(url.endswith("/api/bids") for url in visitor.requested)
        page.select_option("#bids-columns [name=auction]", "Number")
        page.click("#bids-send")
        expect(said).to_have_text("Choose the column that has the bids.")
        page.select_option("#bids-columns [name=bid]", "Amount, EUR")
        page.select_option("#bids-columns [name=bidder]", "Number")
        page.click("#bids-send")
        expect(said).to_contain_text("Column Number is chosen twice.")
        page.select_option("#bids-columns [name=bidder]", "")
        page.click("#bids-send")
        expect(said).to_have_text("The report is ready.", timeout=240_000)
        report = page.frame_locator("#bids-report")
        expect(report.locator("body")).to_contain_text("Number and Amount, EUR")


HEADERS = [
    ("Sale,AMOUNT,area,quality", ("Sale", "AMOUNT"), "Other columns (area, quality)"),
    ("auction,lot,bid,price", ("auction", "bid"), "Other columns (lot, price)"),
    ("sale,lot,amount,price", ("", ""), "Other columns (sale, lot, amount, price)"),
    ("lot,bid", ("lot", "bid"), "no other columns"),
    (f"sale,bid,{'long_name_' * 9}", ("sale", "bid"), "Other columns (long_name_"),
]


def test_columns_with_the_one_usual_name_are_chosen_and_the_form_fits(
    visit: Visit, catalogue, tmp_path: Path
) -> None:
    visit_at = partial(visit, viewport={"width": 390, "height": 844})
    with at_own_site(visit_at, catalogue, report_on=behind) as visitor:
        page = visitor.page
        for number, (header, chosen, others) in enumerate(HEADERS):
            (tmp_path / f"{number}.csv").write_text(f"{header}\n")
            page.set_input_files("#bids-file", tmp_path / f"{number}.csv")
            expect(page.locator("#bids-others")).to_contain_text(others)
            lists = [page.locator(f"#bids-columns [name={name}]") for name in ("auction", "bid")]
            assert tuple(each.input_value() for each in lists) == chosen
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_report_that_takes_long_can_be_stopped(visit: Visit, catalogue, tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("auction,bid\n1,2\n1,3\n")
    gate = tmp_path / "open"
    with at_own_site(
        visit, catalogue, report_on=partial(behind, gate), report_timeout=240.0
    ) as visitor:
        page, said = visitor.page, visitor.page.locator("#bids-said")
        page.set_input_files("#bids-file", tmp_path / "log.csv")
        page.click("#bids-send")
        expect(page.locator("#bids-seconds")).to_have_text(re.compile(r"^[1-9]\d* s$"))
        page.click("#bids-stop")
        expect(said).to_contain_text("Stopped.")
        expect(page.locator("#bids-wait")).to_be_hidden()
        gate.touch()
        page.click("#bids-send")
        expect(said).to_have_text("The report is ready.", timeout=120_000)


def test_what_the_server_lacks_is_closed_or_hidden(visit: Visit) -> None:
    page = visit().open().page
    expect(page.locator("#bids-send")).to_be_disabled()
    expect(page.locator("#bids-said")).to_have_text("This server makes no reports.")
    expect(page.locator("#brief")).to_be_hidden()
