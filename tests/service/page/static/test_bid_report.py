"""A visitor's own log of bids: the form, the report, and what is wrong with a log in words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect

from experiments.report_on_bids import report_on_bids
from tests.bids.simulated import first_price_bids, table_of, uniform
from tests.service.page.static.visitor import Visit, at_own_site

pytestmark = pytest.mark.slow
HOSTILE = "<img src=x onerror=alert(1)>"


def test_a_log_becomes_a_report_in_a_frame_that_may_do_nothing(
    visit: Visit, catalogue, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    bids = [100.0 * row for n in (2, 3) for row in first_price_bids(uniform, n, 60, rng)]
    table_of(bids).to_csv(tmp_path / "good.csv", index=False)
    (tmp_path / "bad.csv").write_text(f"auction,bid\n1,{HOSTILE}\n1,2\n")
    (tmp_path / "latin.csv").write_bytes("auction,bid,straße\n1,2,ü\n1,3,ü\n".encode("latin-1"))
    (tmp_path / "long.csv").write_text("1,2\n" * 300_000)
    with at_own_site(visit, catalogue, report_on=report_on_bids, job_timeout=240.0) as visitor:
        page, said = visitor.page, visitor.page.locator("#bids-said")
        for name, why in (
            ("long", "The file is too long"),
            ("latin", "at least 50 such auctions"),
            ("bad", f"{HOSTILE} is no number"),
        ):
            page.set_input_files("#bids-file", tmp_path / f"{name}.csv")
            page.click("#bids-send")
            expect(said).to_contain_text(why, timeout=120_000)
            expect(page.locator("#bids img, #bids-report[src]")).to_have_count(0)
        page.set_input_files("#bids-file", tmp_path / "good.csv")
        page.click("#bids-send")
        expect(said).to_have_text("This is the report.", timeout=240_000)
        report = page.frame_locator("#bids-report")
        expect(report.get_by_role("heading", level=1)).to_contain_text("What to set")
        expect(report.locator("img")).to_have_count(4)
        assert report.locator("img").first.evaluate("each => each.naturalWidth") > 100
        with page.expect_download() as waiting:
            page.click("#bids-save")
        assert "<h1>What to set" in waiting.value.path().read_text()
        visitor.complaints = [each for each in visitor.complaints if "422" not in each]


def test_columns_are_named_on_the_page_and_a_wrong_header_is_refused_at_once(
    visit: Visit, catalogue, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    bids = [100.0 * row for row in first_price_bids(uniform, 3, 60, rng)]
    table = table_of(bids).rename(columns={"auction": "Lot", "bid": "Amount, EUR"})
    table.to_csv(tmp_path / "export.csv", index=False, sep=";", decimal=",")
    with at_own_site(visit, catalogue, report_on=report_on_bids, job_timeout=240.0) as visitor:
        page, said = visitor.page, visitor.page.locator("#bids-said")
        expect(page.locator("#bids-columns")).to_be_hidden()
        page.set_input_files("#bids-file", tmp_path / "export.csv")
        page.click("#bids-send")
        expect(said).to_have_text("Choose the column that names the sale.", timeout=2_000)
        page.select_option("#bids-columns [name=auction]", "Lot")
        page.click("#bids-send")
        expect(said).to_have_text("Choose the column that has the bids.")
        page.select_option("#bids-columns [name=bid]", "Amount, EUR")
        page.click("#bids-send")
        expect(said).to_have_text("This is the report.", timeout=240_000)
        report = page.frame_locator("#bids-report")
        expect(report.locator("body")).to_contain_text("Lot as the sale; Amount, EUR as the bid.")


def test_without_reports_the_form_is_closed(visit: Visit) -> None:
    page = visit().open().page
    expect(page.locator("#bids-send")).to_be_disabled()
    expect(page.locator("#bids-said")).to_have_text("This server makes no reports.")


def test_the_api_is_a_page(visit: Visit) -> None:
    page = visit().open().page
    page.get_by_role("link", name="The API of this page").click()
    expect(page.get_by_role("heading", name="POST /step")).to_be_visible()
    expect(page.locator("td code", has_text="session_id").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
