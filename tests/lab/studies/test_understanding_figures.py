"""Figures of what a designer has understood show every population and mechanism."""

from __future__ import annotations

import pandas as pd

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv
from daedalus.lab.studies.understanding import changed_fields, choices, losses
from daedalus.lab.studies.understanding_figures import changes, choice_panels, understanding
from daedalus.market.mechanism import Mechanism
from tests.lab.studies.test_understanding import Late, env, table

__all__ = ["env", "table"]


def test_every_population_has_a_panel_and_every_mechanism_a_line(table: pd.DataFrame) -> None:
    figure = choice_panels(*choices(table, "late"), "late")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["first", "second"]
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert any("reserve price 0.9" in text for text in texts) and texts[-1] == "others"


def test_what_is_lost_is_drawn_to_its_full_length(table: pd.DataFrame) -> None:
    lost = losses(table, "late", "own")
    bars = understanding(lost, "late", "own").axes[1].patches
    widths = sum(each.get_width() for each in bars)
    assert abs(widths - (lost["before"] + lost["after"]).sum()) < 1e-9


def test_where_two_designers_differ_is_told_in_percent(env: DesignEnv, table: pd.DataFrame) -> None:
    differ = changed_fields(env, Late(), FixedDesigner(Mechanism()), 4, seed=1)
    gains = pd.DataFrame({"mean": [-0.1], "sem": [0.01], "count": [4]}, index=["first"])
    figure = changes(differ.assign(population="first"), gains, "late", "own")
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert texts == ["100"] * 3 + ["0"] * 3
