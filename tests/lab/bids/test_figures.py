"""The figures of a report draw what they are given."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from daedalus.evaluation.run_report import save
from daedalus.lab.bids.assumptions import sensitivity
from daedalus.lab.bids.estimator import LEVEL, RESERVE, Estimate, Estimator
from daedalus.lab.bids.figures import (
    _density,
    base_words,
    densities,
    reserve_curve,
    sensitivity_dots,
    values_over_bids,
)
from daedalus.lab.bids.verdict import Judgement, Verdict
from tests.lab.bids.conftest import judge


def test_bids_and_values(
    estimator: Estimator, estimate: Estimate, samples: list[Estimate], tmp_path: Path
) -> None:
    figure = values_over_bids(estimate)
    labels = [line.get_label() for line in figure.axes[0].lines]
    assert labels == ["2 bidders", "3 bidders", "value = bid"]
    save(densities(estimate, samples, 0.95), tmp_path / "densities.png")
    assert (tmp_path / "densities.png").stat().st_size > 10_000


def test_a_density_integrates_to_one() -> None:
    grid = np.linspace(0.0, 3.0, 300)
    drawn = _density(np.linspace(0.0, 2.0, 101), grid)
    assert np.trapezoid(drawn, grid) == pytest.approx(1.0, abs=0.01)
    assert drawn[100] == pytest.approx(0.5, abs=0.01)


def test_the_reserves_are_marked(
    estimator: Estimator, estimate: Estimate, judgements: list[Judgement], verdict: Verdict
) -> None:
    figure = reserve_curve(verdict, judge(estimate, estimator), judgements, estimator, 0.95)
    shown = [each.get_text() for each in figure.axes[0].get_legend().get_texts()]  # type: ignore[union-attr]
    assert shown[0] == "in force: 0" and shown[1].startswith("recommended: ")
    table = sensitivity(estimator, estimate, verdict)
    dots = sensitivity_dots(table, verdict, estimator)
    assert len(dots.axes) == 2 and len(dots.axes[0].get_yticklabels()) == len(table)


def test_bases_have_words() -> None:
    assert base_words(RESERVE) == "times the reserve in force"
    assert base_words(LEVEL) == "times the usual bid of the sale"
    assert base_words("money") == "in the money of the log"
