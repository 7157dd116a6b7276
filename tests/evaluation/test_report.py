"""Reports: tables as files and on the terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from rich.console import Console

from daedalus.evaluation.report import Report, as_table
from daedalus.tracking import Tracker, TrackingSettings

FRAME = pd.DataFrame(
    {
        "designer": ["random"],
        "mean": [0.12345],
        "mean_low": [0.1],
        "mean_high": [0.15],
        "small": [0.00123],
        "episodes": [30],
    }
)


def text_of(frame: pd.DataFrame) -> str:
    console = Console(width=200, file=io.StringIO())
    console.print(as_table(frame, "a title"))
    return console.file.getvalue()


def test_a_number_and_its_interval_are_one_cell() -> None:
    shown = text_of(FRAME)
    assert "0.123 [0.100, 0.150]" in shown and "0.0012" in shown
    assert "mean_low" not in shown and "a title" in shown and "30" in shown


def test_a_number_without_an_interval_stands_alone() -> None:
    shown = text_of(FRAME.assign(mean_low=float("nan"), mean_high=float("nan")))
    assert "0.123" in shown and "nan" not in shown and "[" not in shown


def test_tables_and_figures_are_files_of_the_run(tmp_path: Path) -> None:
    with Tracker(TrackingSettings("disabled"), tmp_path, "run", {}) as tracker:
        report = Report(tmp_path, tracker)
        report.table(FRAME, "summary")
        report.figure(Figure(), "empty")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "summary.csv"), FRAME)
    assert (tmp_path / "figures" / "empty.png").exists()


def test_a_line_is_shown_as_it_is(tmp_path: Path, capsys) -> None:
    with Tracker(TrackingSettings("disabled"), tmp_path, "run", {}) as tracker:
        Report(tmp_path, tracker).say("12.5 % of [answers] are [/valid]")
    assert "12.5 % of [answers] are [/valid]" in capsys.readouterr().out
