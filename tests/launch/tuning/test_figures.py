"""The figure of a study shows every trial."""

from __future__ import annotations

import pandas as pd

from daedalus.launch.tuning.figures import history

TABLE = pd.DataFrame({"trial": range(5), "score": [0.3, None, 0.2, 0.5, None]})


def test_the_history_shows_scores_the_best_so_far_and_trials_without_a_score() -> None:
    (axes,) = history(TABLE, "mean of trained").axes
    lines = {line.get_marker(): line for line in axes.lines if len(line.get_xdata()) > 1}
    best = next(line for line in axes.lines if len(line.get_xdata()) == 5)
    assert list(best.get_ydata()) == [0.3, 0.3, 0.3, 0.5, 0.5]
    assert best.get_drawstyle() == "steps-post"
    assert list(lines["o"].get_ydata()) == [0.3, 0.2, 0.5]
    assert list(lines["x"].get_xdata()) == [1, 4]
    low, high = axes.get_ylim()
    assert low < lines["x"].get_ydata()[0] < 0.2 and high > 0.5
    assert axes.get_ylabel() == "mean of trained"


def test_a_trial_that_collapsed_does_not_hide_the_others() -> None:
    table = pd.DataFrame({"trial": range(5), "score": [0.40, 0.41, 0.0, 0.39, 0.405]})
    (axes,) = history(table, "mean of trained").axes
    (triangle,) = (line for line in axes.lines if line.get_marker() == "v")
    assert list(triangle.get_xdata()) == [2]
    low, high = axes.get_ylim()
    assert 0.3 < low < triangle.get_ydata()[0] < 0.39 and 0.41 < high < 0.5
