"""Reports: tables as files and on the terminal."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis.strategies import characters, one_of, sampled_from, text
from matplotlib.figure import Figure
from rich.console import Console

from daedalus.evaluation.readable import as_table, readable
from daedalus.evaluation.run_report import Report
from daedalus.runs.tracking import Tracker, TrackingSettings
from tests.odd_names import ODD_NAMES

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


def test_a_table_says_what_its_intervals_are_over_and_which_may_be_too_short() -> None:
    shown = text_of(FRAME.assign(mean_interval="8 episodes, few"))
    assert "0.123 [0.100, 0.150] few" in shown and "mean interval" not in shown
    assert "intervals over 8 episodes" in shown and "fewer than 20 values" in shown
    assert "few" not in text_of(FRAME.assign(mean_interval="30 episodes"))


def test_tables_and_figures_are_files_of_the_run(tmp_path: Path) -> None:
    with Tracker(TrackingSettings("disabled"), tmp_path, "run", {}) as tracker:
        report = Report(tmp_path, tracker)
        report.table(FRAME, "summary")
        report.figure(Figure(), "empty")
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "summary.csv"), FRAME)
    assert (tmp_path / "figures" / "empty.png").exists()


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(
    name=one_of(
        sampled_from(ODD_NAMES), text(characters(codec="ascii", categories="LNPSZ"), max_size=60)
    )
)
def test_every_text_is_shown_as_it_is(name: str) -> None:
    frame = pd.DataFrame({name: [name], "reward": [0.5]})
    with TemporaryDirectory() as folder, redirect_stdout(io.StringIO()) as shown:
        with Tracker(TrackingSettings("disabled"), Path(folder), "run", {}) as tracker:
            report = Report(Path(folder), tracker)
            report.say(f"say {name}.")
            report.show(frame, f"title {name}.")
            report.figure(Figure(), "name")
    lines = shown.getvalue()
    assert f"say {name}." in lines and f"{folder}/figures/name.png" in lines
    for part in name.splitlines():
        assert f"│ {part}" in lines and f"┃ {readable(part)}" in lines and lines.count(part) >= 3


def test_a_name_that_ends_like_a_bound_is_no_bound() -> None:
    assert "0.250" in text_of(pd.DataFrame({"mine": [0.5], "mine_low": [0.25]}))
