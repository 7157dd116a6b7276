"""A report on a hostile log, which the service makes once for all tests that look at it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from daedalus.service.sessions.bid_reports import MadeReport
from tests.lab.bids.simulated import first_price_bids, table_of, uniform
from tests.service.sessions.test_worker import STORED

FORMULA = '=cmd|"/c calc"!A1'


def make_report(client: TestClient) -> MadeReport:
    """Send a log whose name, columns and cells are hostile, and return what the service made."""
    rng = np.random.default_rng(0)
    bids = [100.0 * row for n in (2, 3) for row in first_price_bids(uniform, n, 60, rng)]
    words = [f"<img src=x onerror=alert({number % 2})>{FORMULA}" for number in range(len(bids))]
    table = table_of(bids, **{"<script>alert(1)</script>": words, "=1+1": [1.5] * len(bids)})
    sent = {"csv": table.to_csv(index=False), "name": "../<script>alert(2)</script>"}
    made = client.post("/api/bids", json=sent)
    assert made.status_code == 200, made.text
    return MadeReport(*(client.get(made.json()[each]).text for each in ("report", "reserves")))


def leave_report(client: TestClient, folder: Path) -> None:
    """Write it into a folder, as ``STORED`` names its files; nothing else may stay there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        made = make_report(client)
    assert list(folder.iterdir()) == []
    for name, text in zip(STORED, (made.page, made.reserves), strict=True):
        (folder / name).write_text(text)
