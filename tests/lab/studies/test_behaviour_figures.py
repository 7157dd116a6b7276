"""Figures of a designer's behaviour show every setting."""

from __future__ import annotations

import pandas as pd
import pytest

from daedalus.lab.studies.behaviour import PRESENT
from daedalus.lab.studies.behaviour_figures import advantages, behaviour
from tests.lab.studies.test_behaviour import env, table

__all__ = ["env", "table"]


def test_figures_show_every_setting(table: pd.DataFrame) -> None:
    drawn = behaviour(table, "fixed")
    labels = {line.get_label() for panel in drawn.axes for line in panel.lines}
    assert {"vcg", "restrict", "winner", "collusion penalty", "reserve price"} <= labels
    assert len(advantages(table, "alternating", "fixed").axes) == len(PRESENT)


@pytest.mark.slow
def test_numbers_of_bidders_are_whole(table: pd.DataFrame) -> None:
    few = table[(table[list(PRESENT)] < 2).all(axis=1)]
    for drawn in (behaviour(few, "fixed"), advantages(few, "alternating", "fixed")):
        drawn.canvas.draw()
        assert all(float(tick).is_integer() for axes in drawn.axes for tick in axes.get_xticks())
