"""Steps of bids are found, and counted beside the typical bid."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from daedalus.lab.bids.rounding import digits_of, half_steps, relative_step, spread, step_of
from tests.lab.bids.written import estimator_of, sales_of, text_of

BIDS = np.exp(np.random.default_rng(0).normal(4.0, 1.5, 500))


@pytest.mark.parametrize("step", [0.1, 0.25, 5.0, 2.0, 20.0])
def test_the_step_of_rounded_bids_is_found(step: float) -> None:
    rounded = np.maximum(np.rint(BIDS / step), 1.0) * step
    assert step_of(rounded) == step
    assert relative_step(rounded) >= np.median(step / rounded)


def test_a_few_other_bids_do_not_hide_the_step() -> None:
    rounded = np.maximum(np.rint(BIDS), 1.0)
    rounded[::25] += 0.37
    assert step_of(rounded) == 1.0
    rounded[::10] += 0.0123
    assert step_of(rounded) != 1.0


def test_bids_as_they_come_have_no_step() -> None:
    assert step_of(BIDS) is None and digits_of(BIDS) is None and relative_step(BIDS) == 0.0


def test_whole_dollars_are_a_fine_step_for_large_bids() -> None:
    dollars = np.rint(np.random.default_rng(1).normal(10_000.0, 2_000.0, 500).clip(1_000.0))
    assert step_of(dollars) == 1.0 and relative_step(dollars) == pytest.approx(1e-4, rel=0.05)


def test_digits_are_steps_of_several_magnitudes() -> None:
    short = np.array([float(f"{bid:.1e}") for bid in BIDS])
    assert digits_of(short) == 2 and 0.01 < relative_step(short) < 0.1
    assert step_of(short) == 0.1  # that of the smallest bids


def test_only_rounded_bids_have_a_step() -> None:
    """Half a step below a bid of less than it was below 0."""
    rounded = np.maximum(np.rint(BIDS), 1.0)
    rounded[:3] = 0.2, 0.51, 30.7
    assert half_steps(rounded)[:4] == pytest.approx([0.0, 0.0, 0.0, 0.5])
    short = np.array([float(f"{bid:.1e}") for bid in BIDS])
    short[0] *= 1.0123
    assert half_steps(short)[0] == 0.0 < half_steps(short)[1]
    assert (spread(rounded, half_steps(rounded)) > 0).all()


def test_values_are_found_where_a_bid_is_less_than_the_step(tmp_path: Path) -> None:
    level = np.exp(0.8 * np.random.default_rng(1).normal(size=120))
    rows = [(a, max(round(b / 5 * level[int(a)]), 1) * 5) for a, b in sales_of(120, 3, 1)]
    rows[0] = (rows[0][0], 1.3)
    estimator = estimator_of(tmp_path, text_of(rows), outliers=None)
    assert estimator.parts is not None and estimator.half_steps.max() == 2.5
    assert np.isfinite(estimator.estimate().values).all()
