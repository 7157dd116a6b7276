"""Intervals of simulated logs are those of the report, and shares count them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from daedalus.evaluation.statistics import share_interval
from daedalus.lab.studies.coverage import (
    GAIN,
    QUANTITIES,
    RESERVE,
    Job,
    as_markdown,
    coverage_table,
    intervals_of,
    overview,
)
from daedalus.lab.studies.coverage_figures import coverage_dots
from daedalus.lab.studies.coverage_settings import CoverageSettings
from daedalus.launch.config.compose import compose_config
from experiments import coverage

CONFIG = compose_config("+experiment=coverage")
JOB = Job("clean_from_zero", 300, 0, 30, 0, 0.95, CONFIG.market, CONFIG.reward)


def found(job: Job) -> pd.DataFrame:
    return pd.DataFrame(intervals_of(job)).set_index("quantity")


def row(log: int, low: float, high: float, **others: object) -> dict[str, object]:
    """Return a row of a log whose best reserve is .49 to .51."""
    place = {"kind": "clean", "sales": 60, "log": log, "quantity": RESERVE}
    ends = {"low": low, "high": high, "true_low": 0.49, "true_high": 0.51, "slack": 0.001}
    known = {"found": (low + high) / 2, "refused": False, "diagnosed": np.nan}
    return place | ends | known | others


@pytest.mark.slow
def test_a_log_has_an_interval_of_each_quantity() -> None:
    rows = found(JOB)
    assert tuple(rows.index) == QUANTITIES
    assert (rows["low"] <= rows["found"] + 1e-9).all()
    assert (rows["found"] <= rows["high"] + 1e-9).all()
    assert rows.loc["median", "found"] == pytest.approx(0.5, abs=0.1)
    assert rows.loc[RESERVE, "found"] == pytest.approx(0.5, abs=0.15)
    assert 0.0 < rows.loc[GAIN, "true_low"] < 0.0313


@pytest.mark.slow
def test_the_reserve_counts_in_the_money_of_the_typical_sale() -> None:
    """With a covariate too, it is near the bids of a sale of size 1."""
    rows = found(replace(JOB, kind="covariate"))
    assert rows.loc[RESERVE, "found"] < 0.8  # values begin at 1/2, so that none is as good
    assert rows.loc["median", "found"] == pytest.approx(0.75, abs=0.1)


def test_bounds_of_an_ascending_log_make_its_intervals_wide() -> None:
    rows = found(replace(JOB, kind="jumps"))
    width = rows["high"] - rows["low"]
    assert width["median"] > 0.07 and rows.loc["median", "low"] < 0.5 < rows.loc["median", "high"]


def test_a_log_that_is_refused_is_counted() -> None:
    rows = found(replace(JOB, kind="entry", sales=60))
    assert rows["refused"].all() and rows["found"].isna().all()
    table = coverage_table(rows.reset_index(), 0.95)
    assert (table["refused"] == 1.0).all() and (table["logs"] == 0).all()


def test_shares_count_intervals_that_meet_the_truth() -> None:
    ends = [(0.4, 0.48), (0.4, 0.5), (0.5105, 0.6), (0.52, 0.6)]
    rows = [row(log, *each, diagnosed=float(log < 3)) for log, each in enumerate(ends)]
    missing = row(4, np.nan, np.nan, refused=True)
    (only,) = coverage_table(pd.DataFrame([*rows, missing]), 0.95).to_dict("records")
    assert (only["coverage"], only["logs"], only["diagnosed"]) == (0.5, 4, 0.75)
    assert only["refused"] == pytest.approx(0.2)
    assert only["bias"] == pytest.approx((-0.05 - 0.04 + 0.04525 + 0.05) / 4)
    assert only["truth"] == pytest.approx(0.5)
    assert (only["coverage_low"], only["coverage_high"]) == share_interval(0.5, 4, 0.95)


def test_readers_see_bias_and_coverage_in_one_cell() -> None:
    rows = [row(0, 0.4, 0.48), row(1, 0.4, 0.5), row(0, np.nan, np.nan, kind="ring", refused=True)]
    shown = overview(coverage_table(pd.DataFrame(rows), 0.95))
    assert list(shown[RESERVE]) == ["\N{MINUS SIGN}0.045, 50 %", "refused"]
    lines = as_markdown(shown).splitlines()
    assert lines[0] == f"| log | sales | logs | {RESERVE} | diagnosed |"
    assert lines[3] == "| ring of 3 of 4 | 60 | 0 | refused |  |"


def test_a_gain_that_the_report_takes_for_none_is_no_error() -> None:
    gain = found(replace(JOB, kind="clean", sales=60)).loc[GAIN]
    assert 0.0005 < gain["slack"] < 0.0009  # a thousandth of the revenue, about 3/4


def test_the_figure_has_a_dot_for_each_share_and_all_numbers_of_sales() -> None:
    sizes = [60, 100, 200, 400, 800, 1600, 3200]
    rows = [
        row(0, 0.4, 0.6, kind=kind, quantity=each, sales=count)
        for count in sizes
        for kind in ("clean", "ring")
        for each in QUANTITIES
    ]
    figure = coverage_dots(coverage_table(pd.DataFrame(rows), 0.95), 0.95)
    assert [each.get_title(loc="left") for each in figure.axes] == list(QUANTITIES)
    labels = [each.get_text() for each in figure.axes[0].get_yticklabels()]
    assert labels == ["clean, values .5 to 1", "ring of 3 of 4"]
    shown = [each.get_text() for each in figure.legends[0].get_texts()]
    assert shown == [f"{size:,} sales" for size in sizes]
    drawn = [line for line in figure.axes[0].lines if line.get_marker() == "o"]
    assert len({str(line.get_color()) for line in drawn}) == len(sizes)
    assert all(len(line.get_xdata()) == 2 and abs(line.get_ydata()[0]) < 0.5 for line in drawn)


@pytest.mark.parametrize(("confidence", "words"), [(0.95, "90 to 98 %"), (0.8, "60 to 92 %")])
def test_the_band_of_the_figure_follows_the_confidence(confidence: float, words: str) -> None:
    rows = [row(0, 0.4, 0.6, quantity=each) for each in QUANTITIES]
    figure = coverage_dots(coverage_table(pd.DataFrame(rows), confidence), confidence)
    low, high = (float(words.split()[place]) / 100 for place in (0, 2))
    shaded = figure.axes[0].patches[0].get_bbox()
    assert (shaded.x0, shaded.x1) == pytest.approx((low, high))
    assert any(f"green: {words}" in each.get_text() for each in figure.findobj(Text))


def test_the_file_has_the_defaults() -> None:
    assert compose_config("+experiment=coverage").coverage == CoverageSettings()


@pytest.mark.parametrize(
    ("changes", "hint"),
    [
        ({"kinds": ["clean", "rings"]}, r"coverage.kinds: \['rings'\]; choose some of clean"),
        ({"kinds": []}, "coverage.kinds"),
        ({"sales": [400, 40]}, "coverage.sales.*give integers from 50 up"),
        ({"sales": []}, "coverage.sales"),
        ({"logs": 0}, "logs: 0; give an integer from 1 up"),
        ({"resamples": 5}, "resamples: 5; give an integer from 20 up"),
    ],
)
def test_what_cannot_be_simulated_is_refused(changes: dict[str, Any], hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        CoverageSettings(**changes)


@pytest.mark.slow
def test_the_experiment_writes_a_row_for_each_quantity_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = ("tracking=files", "coverage.logs=2", "coverage.resamples=20", "coverage.sales=[60]")
    config = compose_config("+experiment=coverage", *small, "coverage.kinds=[clean,rounded]")
    coverage.main(config, tmp_path)
    table = pd.read_csv(tmp_path / "coverage.csv")
    assert table["kind"].value_counts().to_dict() == {"clean": 5, "rounded": 5}
    assert (table["logs"] == 2).all() and table["coverage"].between(0.0, 1.0).all()
    assert (tmp_path / "figures" / "coverage.png").is_file()
    rows = pd.read_csv(tmp_path / "logs.csv")
    assert rows.groupby(["kind", "quantity"])["low"].nunique().gt(1).any()  # logs differ
    rows[rows["kind"] == "clean"].to_csv(tmp_path / "logs.csv", index=False)
    played: list[str] = []
    cell = coverage._cell
    monkeypatch.setattr(coverage, "_cell", lambda *args: played.append(args[1]) or cell(*args))
    coverage.main(config, tmp_path)
    assert played == ["rounded"]
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "logs.csv"), rows)
