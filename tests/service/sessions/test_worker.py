"""Work in processes of its own: results, refusals, failures, and an end."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from daedalus.checks import CannotRunError
from daedalus.lab.bids.settings import BidLogSettings
from daedalus.service.sessions.bid_reports import MadeReport
from daedalus.service.sessions.worker import (
    MOST_MEMORY,
    RefusedError,
    Worker,
    WorkError,
)

PATIENT = 60.0
STORED = "page.html", "reserves.csv"


def doubled(number: int) -> tuple[int, int, int, str]:
    print("noise that is no answer")
    return 2 * number, os.getpid(), os.nice(0), os.environ["NUMBA_NUM_THREADS"]


def refused(*given: object) -> None:
    raise CannotRunError("bids: none; give some")


def failing(*given: object) -> None:
    raise KeyError("/secret/path")


def hungry() -> int:
    return len(np.ones(MOST_MEMORY // 8 + 1))


def ended() -> None:
    os.kill(os.getpid(), 9)


def leaving() -> None:
    os._exit(3)


def of_no_pickle() -> object:
    return lambda: None


def endless(*given: object) -> None:
    time.sleep(3600)


def echoing(name: str, csv: str, settings: BidLogSettings, folder: str) -> MadeReport:
    """Stand for a report: what was asked, and files beside it."""
    (Path(folder) / "bids.csv").write_text(csv)
    return MadeReport(
        f"<p>{name}, {settings.format}, {settings.auction} and {settings.bid}</p>",
        "auction,set\n1,2\n",
    )


def behind(gate: Path, name: str, csv: str, settings: BidLogSettings, folder: str) -> MadeReport:
    """Wait for a file, then echo."""
    while not gate.exists():
        time.sleep(0.01)
    return echoing(name, csv, settings, folder)


def stored(report: Path, name: str, csv: str, settings: BidLogSettings, folder: str) -> MadeReport:
    """Return a report that was made before on a log named good; refuse others in their words."""
    if name != "good":
        raise CannotRunError(f"bids: {csv}")
    return MadeReport(*((report / each).read_text() for each in STORED))


def test_a_result_comes_back_from_another_process_of_one_thread() -> None:
    result, process, niceness, threads = Worker(PATIENT).run(doubled, 21)
    assert (result, threads) == (42, "1")
    assert process != os.getpid() and niceness >= 10


@pytest.mark.parametrize(
    ("work", "kind", "why"),
    [
        (refused, RefusedError, "bids: none; give some"),
        (hungry, WorkError, "more memory"),
        (ended, WorkError, "more memory"),
    ],
)
def test_what_cannot_be_done_is_said(work, kind: type[WorkError], why: str) -> None:
    with pytest.raises(WorkError, match=why) as caught:
        Worker(PATIENT).run(work)
    assert caught.type is kind


def test_a_failure_keeps_its_trace() -> None:
    with pytest.raises(RuntimeError, match="secret") as caught:
        Worker(PATIENT).run(failing)
    assert not isinstance(caught.value, WorkError) and "failing" in str(caught.value)


@pytest.mark.parametrize(("work", "why"), [(leaving, "status 3"), (of_no_pickle, "pickle")])
def test_a_worker_that_cannot_answer_is_no_matter_of_memory(work, why: str) -> None:
    with pytest.raises(RuntimeError, match=why) as caught:
        Worker(PATIENT).run(work)
    assert not isinstance(caught.value, WorkError)


def test_work_ends_when_its_time_is_up_or_the_worker_closes() -> None:
    with pytest.raises(WorkError, match=r"longer than 0\.2 seconds"):
        Worker(0.2).run(endless)
    worker = Worker(PATIENT)
    threading.Timer(0.2, worker.close).start()
    began = time.monotonic()
    with pytest.raises(WorkError):
        worker.run(endless)
    assert time.monotonic() - began < PATIENT / 2
