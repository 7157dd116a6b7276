"""Reports on logs of bids: what is refused, how many are made, and what a report may do."""

from __future__ import annotations

import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import requests

from daedalus.lab.bids.settings import BidLogSettings
from daedalus.service.openenv.catalogue import Catalogue
from daedalus.service.sessions.bid_reports import (
    MOST_COLUMNS,
    MOST_ROWS,
    check_shape,
    for_visitors,
)
from tests.service.conftest import JSON_BODY, serving
from tests.service.sessions.test_worker import STORED, behind, echoing, endless, refused

LOG = "auction,bid\n1,2\n1,3\n"
PATIENT = {"report_timeout": 240.0}


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which this process makes temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_a_report_is_a_page_that_may_do_nothing_and_leaves_no_file(reach, scratch: Path) -> None:
    client = reach(report_on=echoing, **PATIENT)
    made = client.post("/api/bids", json={"csv": LOG, "name": "my log", "format": "ascending"})
    assert made.status_code == 200 and list(scratch.iterdir()) == []
    report = client.get(made.json()["report"])
    assert report.text == "<p>my log, ascending, auction and bid</p>"
    policy = report.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and policy.endswith("sandbox") and "script" not in policy
    assert report.headers["Cache-Control"] == "no-store"
    reserves = client.get(made.json()["reserves"])
    assert reserves.text == "auction,set\n1,2\n"
    assert reserves.headers["Content-Disposition"] == "attachment; filename=reserves.csv"
    assert "sandbox" in reserves.headers["Content-Security-Policy"]
    for missing in ("/api/bids/0123", "/api/bids/0123/reserves.csv"):
        assert client.get(missing).status_code == 404
    other = client.post("/api/bids", json={"csv": LOG})
    assert other.json()["report"] != made.json()["report"]


REFUSED: list[tuple[Any, str]] = [
    ("", "this is no table"),
    ("auction;amount\n1;2\n", "no column bid among auction, amount; rename yours"),
    ("auction,bid\n7,251,03\n", "line 2 has 3 cells"),
    ('auction,bid\n1,"2\n', "close each quotation mark"),
    ("auction,bid\n" + "1,2\n" * (MOST_ROWS + 1), f"send {MOST_ROWS} at most"),
    ("auction,bid\r" + "1,2\r" * (MOST_ROWS + 1), f"send {MOST_ROWS} at most"),
    ("auction,bid\n" + "1,2\r1,2\n" * (MOST_ROWS // 2 + 1), f"send {MOST_ROWS} at most"),
    (",".join("a" * (MOST_COLUMNS + 1)) + "\n1\n", f"send {MOST_COLUMNS} at most"),
    ('"auction\n",bid,' + ",".join("a" * MOST_COLUMNS) + "\n1\n", f"send {MOST_COLUMNS} at most"),
    ("a" * 200_000 + ",bid\n1,2\n", "this is no table"),
]


def test_the_most_rows_may_end_with_a_line_end() -> None:
    for end in ("", "\n", "\r\n"):
        check_shape("auction,bid\n" + "\n".join(["1,2"] * MOST_ROWS) + end, BidLogSettings())


@pytest.mark.parametrize(("csv", "why"), REFUSED)
def test_what_is_too_large_or_no_table_is_refused_before_anything_starts(
    reach, csv: str, why: str
) -> None:
    client = reach(report_on=endless, **PATIENT)
    answer = client.post("/api/bids", json={"csv": csv})
    assert answer.status_code == 422 and why in answer.json()["error"]
    assert "bid_log" not in answer.json()["error"]


def test_bodies_that_are_too_long_or_no_text_are_refused(reach) -> None:
    client = reach(report_on=endless, max_upload_bytes=200_000)
    long = client.post("/api/bids", json={"csv": LOG * 20_000})
    assert (long.status_code, long.json()["error"]) == (413, "the body is longer than 200000 bytes")
    assert client.post("/reset", content=b" " * 70_000).status_code == 413  # as before
    for body in (b'{"csv": "auction,bid\n\xff\xfe"}', b'{"csv": "auction,bid\\n\\ud800"}', b"\xff"):
        answer = client.post("/api/bids", content=body, headers=JSON_BODY)
        assert answer.status_code == 422 and answer.json()["error"]
    for body in ({"csv": LOG, "format": "lottery"}, {"csv": 7}, {"csv": LOG, "folder": "/etc"}, {}):
        assert client.post("/api/bids", json=body).status_code == 422


@pytest.mark.slow
def test_a_log_that_cannot_be_used_or_takes_too_long_is_said_so(reach, scratch: Path) -> None:
    answer = reach(report_on=refused, **PATIENT).post("/api/bids", json={"csv": LOG})
    assert answer.status_code == 422
    assert answer.json()["error"] == "none; give some"
    answer = reach(report_on=endless, report_timeout=1.0).post("/api/bids", json={"csv": LOG})
    assert answer.status_code == 422
    assert "longer than 1 seconds: the server is too busy" in answer.json()["error"]
    assert "or with less" in answer.json()["error"]
    assert list(scratch.iterdir()) == []


def test_reasons_leave_out_the_command_line() -> None:
    reason = "bids: column b, line 2: 1,250 may be two; choose the mark (bid_log.decimal=',')"
    assert for_visitors(reason) == "column b, line 2: 1,250 may be two; choose the mark"


@pytest.mark.slow
def test_who_leaves_may_send_another_log_at_once(catalogue: Catalogue, tmp_path: Path) -> None:
    gate = tmp_path / "open"
    with serving(catalogue, report_on=partial(behind, gate), **PATIENT) as address:
        ask = partial(requests.post, f"{address}/api/bids")
        with pytest.raises(requests.ReadTimeout):
            ask(json={"csv": LOG}, timeout=0.5)
        gate.touch()
        assert ask(json={"csv": f"{LOG}2,1\n"}, timeout=240).status_code == 200


@pytest.mark.parametrize("changes", [{}, {"report_on": echoing, "max_upload_bytes": 0}])
def test_without_reports_the_service_says_so(reach, changes: dict[str, Any]) -> None:
    client = reach(**changes)
    answer = client.post("/api/bids", json={"csv": LOG})
    assert answer.status_code == 404 and "makes no reports on bids" in answer.json()["error"]
    assert client.get("/api/catalogue").json()["upload_bytes"] == 0


@pytest.mark.slow
def test_each_visitor_has_one_report_under_way_and_all_have_a_few(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    codes: dict[str, list[int]] = {}
    turned_away = threading.Semaphore(0)
    gate = tmp_path / "open"

    def send(address: str, visitor: str, number: int) -> None:
        body = {"csv": f"{LOG}{number},1\n"}
        headers = {"X-Forwarded-For": visitor}
        answer = requests.post(f"{address}/api/bids", json=body, headers=headers, timeout=300)
        codes.setdefault(visitor, []).append(answer.status_code)
        if answer.status_code == 503:
            turned_away.release()
            assert int(answer.headers["Retry-After"]) >= 1

    with serving(
        catalogue, report_on=partial(behind, gate), trusted_proxies=["127.0.0.1"], **PATIENT
    ) as address:
        senders = [f"192.0.2.{1 + number // 2}" for number in range(12)]  # two of each visitor
        threads = [
            threading.Thread(target=send, args=(address, visitor, number))
            for number, visitor in enumerate(senders)
        ]
        for thread in threads:
            thread.start()
        for _ in range(8):
            turned_away.acquire(timeout=240)
        gate.touch()
        for thread in threads:
            thread.join()
        assert requests.get(f"{address}/health", timeout=30).status_code == 200
    assert all(each.count(200) <= 1 for each in codes.values())
    assert sum(each.count(200) for each in codes.values()) == 4
    assert {code for each in codes.values() for code in each} == {200, 503}


@pytest.mark.slow
def test_a_hostile_log_becomes_a_report_without_a_script(hostile_report: Path) -> None:
    page, reserves = ((hostile_report / name).read_text() for name in STORED)
    assert "<h1>What to set: script alert 2 script</h1>" in page
    assert page.count("data:image/png") == 4
    assert reserves.startswith("auction,bidders,") and reserves.count("\n") > 100
    assert "<script" not in page and "onerror" not in page and "<img src=x" not in page
    assert "http" not in page.replace("http-equiv", "")
