"""The figure of fronts has a panel for each pair of goals."""

from __future__ import annotations

import pandas as pd

from daedalus.lab.studies.pareto_fronts import GOALS, volumes
from daedalus.lab.studies.pareto_fronts_figures import front_panels


def test_each_pair_of_goals_has_a_panel_with_a_line_for_each_objective() -> None:
    points = [("x", "search", 0.9, 0.5, 0.4), ("x", "trained", 0.8, 0.5, 0.3)]
    points += [("y", "search", 0.4, 0.9, 0.9), ("y", "trained", 0.4, 0.8, 0.8)]
    table = pd.DataFrame(points, columns=["objective", "designer", *GOALS])
    table = table.assign(reward=0.5, front=[True, False, True, True])
    figure = front_panels(table, volumes(table, "search"))
    panels = figure.axes
    labels = [(panel.get_xlabel(), panel.get_ylabel()) for panel in panels]
    assert labels == [("revenue", "welfare"), ("revenue", "fairness"), ("welfare", "fairness")]
    assert all(len(panel.lines) == 2 for panel in panels)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["search", "trained"]
