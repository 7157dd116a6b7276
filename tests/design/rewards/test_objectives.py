"""Objectives of many prompts: they are drawn, told in hundredths, and pay as they are told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from daedalus.design.rewards.objectives import (
    Objectives,
    check_objectives,
    draw_objectives,
    terms_of,
)
from daedalus.market.goal import Goal

SPREAD = {"terms": ["revenue", "welfare", "fairness"], "concentration": 1.0}
FIXED = {"participation": 3.0, "revenue": 1.0}


def drawn(*asked: dict[str, Any], count: int = 500) -> Objectives:
    check_objectives(asked)
    return draw_objectives(asked, count, np.random.default_rng(0))


def test_weights_are_hundredths_of_sum_one() -> None:
    objectives = drawn(SPREAD)
    hundredths = 100 * objectives.weights
    np.testing.assert_allclose(hundredths, hundredths.round(), atol=1e-9)
    np.testing.assert_allclose(objectives.weights.sum(axis=1), 1.0)
    assert abs(objectives.weights.mean(axis=0) - 1 / 3).max() < 0.05


def test_rounding_changes_a_weight_by_less_than_a_hundredth() -> None:
    assert drawn({"revenue": 1.0, "welfare": 1.0, "fairness": 1.0}).goals[0].weights == {
        "revenue": 0.34,
        "welfare": 0.33,
        "fairness": 0.33,
    }
    assert drawn({"revenue": 0.29, "welfare": 0.71}).goals[0] == Goal(
        {"revenue": 0.29, "welfare": 0.71}
    )


def test_each_prompt_has_one_of_several_objectives() -> None:
    objectives = drawn(SPREAD, FIXED)
    assert objectives.terms == ("revenue", "welfare", "fairness", "participation")
    fixed = objectives.weights[:, 3] > 0
    assert 0.4 < fixed.mean() < 0.6
    np.testing.assert_allclose(objectives.weights[fixed], [[0.25, 0.0, 0.0, 0.75]] * fixed.sum())


def test_a_high_concentration_is_near_equal_weights() -> None:
    near = drawn(SPREAD | {"concentration": 1e5}).weights
    assert near.std() < drawn(SPREAD).weights.std() / 10


def test_completions_earn_by_the_weights_of_their_prompts() -> None:
    objectives = Objectives(("revenue", "welfare"), np.array([[1.0, 0.0], [0.25, 0.75]]))
    terms = {"revenue": np.array([0.4, 0.4, 0.8]), "welfare": np.array([1.0, 1.0, 0.0])}
    np.testing.assert_allclose(objectives.total(terms, [0, 1, 1]), [0.4, 0.85, 0.2])
    assert objectives.stack.weights == {"revenue": 1.0, "welfare": 1.0}
    again = Objectives.of(objectives.goals)
    assert again.terms == objectives.terms and (again.weights == objectives.weights).all()


def test_terms_are_named_once_in_order() -> None:
    assert terms_of([FIXED, SPREAD]) == ["participation", "revenue", "welfare", "fairness"]


@pytest.mark.parametrize(
    ("asked", "hint"),
    [
        ({"profit": 1.0}, "objectives.0: no term profit; choose from format, "),
        ({"revenue": -1.0}, r"objectives\.0\.revenue: -1\.0; give a finite number from 0 up"),
        ({"revenue": float("nan")}, "objectives.0.revenue: nan; give a finite number"),
        ({"revenue": "much"}, "objectives.0.revenue: much; give a finite number"),
        ({"revenue": 0.0}, "objectives.0: all weights are zero; give at least one"),
        ({}, "objectives.0: all weights are zero"),
        ({"terms": ["revenue", "fairness"]}, "objectives.0: terms; give terms and concentration"),
        (SPREAD | {"revenue": 1.0}, "give terms and concentration, or weights by term"),
        (SPREAD | {"terms": ["revenue"]}, r"terms: \['revenue'\]; give a list of two or more"),
        (SPREAD | {"terms": ["revenue"] * 2}, "two or more different terms"),
        (SPREAD | {"terms": ["revenue", "x"]}, "objectives.0.terms: no term x; choose from"),
        (SPREAD | {"concentration": 0}, "concentration: 0; give a finite number above 0"),
    ],
)
def test_bad_objectives_are_refused(asked: dict[str, Any], hint: str) -> None:
    with pytest.raises(ValueError, match=hint):
        check_objectives([asked])
