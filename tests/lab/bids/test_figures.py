"""The figures of a report draw what they are given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from daedalus.evaluation.run_report import save
from daedalus.lab.bids.estimator import LEVEL, RESERVE
from daedalus.lab.bids.figures import _BASES, _density, figures_of
from daedalus.lab.bids.findings import Findings


def test_bases_have_words() -> None:
    assert _BASES[RESERVE] == "times the reserve in force"
    assert _BASES[LEVEL] == "times the usual bid of the sale"


def test_a_report_has_its_figures(findings: Findings, tmp_path: Path) -> None:
    drawn = figures_of(findings)
    labels = [line.get_label() for line in drawn["values"].axes[0].lines]
    assert labels == ["2 bidders", "3 bidders", "value = bid"]
    save(drawn["densities"], tmp_path / "densities.png")
    assert (tmp_path / "densities.png").stat().st_size > 10_000
    reserve = drawn["reserve"].axes[0]
    shown = [each.get_text() for each in reserve.get_legend().get_texts()]  # type: ignore[union-attr]
    assert shown[0] == "in force: 0" and shown[1].startswith("recommended: ")
    assert reserve.get_xlabel() == "reserve price, in the money of the log"
    dots = drawn["sensitivity"]
    assert len(dots.axes) == 2
    assert len(dots.axes[0].get_yticklabels()) == len(findings.sensitivity)


def test_a_density_integrates_to_one() -> None:
    grid = np.linspace(0.0, 3.0, 300)
    drawn = _density(np.linspace(0.0, 2.0, 101), grid)
    assert np.trapezoid(drawn, grid) == pytest.approx(1.0, abs=0.01)
    assert drawn[100] == pytest.approx(0.5, abs=0.01)
