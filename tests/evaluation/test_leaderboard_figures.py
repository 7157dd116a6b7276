"""Figures of a leaderboard name every designer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from daedalus.evaluation.leaderboard import aggregate, normalise
from daedalus.evaluation.leaderboard_figures import leaderboard_figures
from tests.evaluation.test_leaderboard import CONFIDENCE, table


def drawn(scores: pd.DataFrame) -> dict[str, Figure]:
    totals = aggregate(scores, ["informed_greedy", "best_fixed"], CONFIDENCE)
    return leaderboard_figures(scores, totals, CONFIDENCE)


@pytest.mark.parametrize("seeds", [1, 5])
def test_figures_name_every_designer(seeds: int) -> None:
    figures = drawn(normalise(table(seeds=seeds, best_fixed=0.9, informed_greedy=0.5)))
    assert ("intervals" in figures) == ("improvement" in figures) == (seeds > 1)
    for figure in figures.values():
        words = {axes.get_title(loc="left") for axes in figure.axes}
        for axes in figure.axes:
            words |= {t.get_text() for t in [*axes.get_xticklabels(), *axes.get_yticklabels()]}
        assert {"best fixed", "random", "planner"} <= words


def test_profiles_show_each_seed_beside_the_mean() -> None:
    figure = drawn(normalise(table(best_fixed=0.9, informed_greedy=0.5)))["profiles"]
    panel = next(axes for axes in figure.axes if axes.get_title(loc="left") == "best fixed")
    *seeds, mean = [line.get_ydata() for line in panel.lines[-6:]]
    np.testing.assert_allclose(np.mean(seeds, axis=0), mean)
    assert np.ptp(seeds, axis=0).max() > 0


def test_intervals_are_drawn_as_they_are_in_the_table() -> None:
    scores = normalise(table(seeds=2, best_fixed=0.9))
    totals = aggregate(scores, [], CONFIDENCE).sort_values("mean")
    panel = leaderboard_figures(scores, totals, CONFIDENCE)["intervals"].axes[0]
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in panel.patches]
    np.testing.assert_allclose(bars, totals[["mean_low", "mean_high"]])
    assert panel.get_xlabel() == "over 2 seeds and 4 populations"


def test_one_seed_is_said_to_have_no_interval() -> None:
    _title, reading = drawn(normalise(table(seeds=1, best_fixed=0.9)))["leaderboard"].texts
    assert "one seed has no interval" in reading.get_text()
