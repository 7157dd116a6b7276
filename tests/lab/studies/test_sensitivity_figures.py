"""Figures of the sensitivity experiment show every field and population."""

from __future__ import annotations

import numpy as np

from daedalus.lab.studies import sensitivity
from daedalus.lab.studies.sensitivity import Identification
from daedalus.lab.studies.sensitivity_figures import best_settings, confusion, response_curves
from daedalus.market.mechanism import FIELDS
from tests.lab.studies.test_sensitivity import responses

FOUND = {"one": responses(), "two": responses(1, reveal_reserve=[0.43, 0.40])}


def test_response_curves_have_a_panel_for_each_field() -> None:
    figure = response_curves(sensitivity.response_table(FOUND))
    assert len([axes for axes in figure.axes if axes.has_data()]) >= len(FIELDS)


def test_best_settings_name_the_populations() -> None:
    axes = best_settings(sensitivity.response_table(FOUND)).axes[0]
    labels = {text.get_text() for text in [*axes.get_xticklabels(), *axes.get_yticklabels()]}
    assert set(FOUND) <= labels


def test_the_confusion_names_the_populations_on_both_axes() -> None:
    axes = confusion(Identification(np.eye(2), list(FOUND), 10)).axes[0]
    for ticks in (axes.get_xticklabels(), axes.get_yticklabels()):
        assert [text.get_text() for text in ticks] == list(FOUND)
