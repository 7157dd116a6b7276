"""Figures of a leaderboard name every designer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from daedalus.evaluation.leaderboard import aggregate, normalise
from daedalus.evaluation.leaderboard_figures import leaderboard_figures
from tests.evaluation.test_leaderboard import SETTINGS, table


def drawn(scores: pd.DataFrame) -> dict[str, Figure]:
    totals = aggregate(scores, ["informed_greedy", "best_fixed"], SETTINGS, seed=0)
    return leaderboard_figures(scores, totals, SETTINGS)


@pytest.mark.parametrize("seeds", [1, 5])
def test_figures_name_every_designer(seeds: int) -> None:
    figures = drawn(normalise(table(seeds=seeds, best_fixed=0.9, informed_greedy=0.5)))
    assert ("intervals" in figures) == ("improvement" in figures) == (seeds > 1)
    for figure in figures.values():
        words = {axes.get_title(loc="left") for axes in figure.axes}
        for axes in figure.axes:
            words |= {t.get_text() for t in [*axes.get_xticklabels(), *axes.get_yticklabels()]}
        assert {"best fixed", "random", "planner"} <= words


def test_a_profile_lies_in_its_band() -> None:
    figure = drawn(normalise(table(best_fixed=0.9, informed_greedy=0.5)))["profiles"]
    panel = next(axes for axes in figure.axes if axes.get_title(loc="left") == "best fixed")
    thresholds, profile = panel.lines[-1].get_data()
    (outline,) = (path.vertices for path in panel.collections[0].get_paths())
    width = 0.0
    for threshold, share in zip(thresholds, profile, strict=True):
        ends = outline[np.isclose(outline[:, 0], threshold), 1]
        assert ends.min() <= share <= ends.max()
        width = max(width, np.ptp(ends))
    assert 0.05 < width < 1.0
