"""Budgets out of range are refused when they are made."""

from __future__ import annotations

import pytest

from daedalus.design.search.budgets import (
    DistillationBudget,
    EvolutionBudget,
    PlannerBudget,
    SearchBudget,
)


@pytest.mark.parametrize(
    ("budget", "name", "value"),
    [
        (SearchBudget, "candidates", 0),
        (SearchBudget, "episodes", 0),
        (SearchBudget, "keep", 1),
        (SearchBudget, "sweeps", -1),
        (SearchBudget, "sweep_episodes", 0),
        (EvolutionBudget, "population", 0),
        (EvolutionBudget, "generations", 0),
        (EvolutionBudget, "episodes", 0),
        (PlannerBudget, "futures", 0),
        (PlannerBudget, "horizon", 0),
        (PlannerBudget, "rounds", -1),
        (DistillationBudget, "refinements", -1),
        (DistillationBudget, "improvements", -1),
        (DistillationBudget, "commitment_steps", 0),
        (DistillationBudget, "exploration", 1.5),
    ],
)
def test_an_empty_budget_is_refused(budget: type, name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{name}: {value}"):
        budget(**{name: value})


def test_distillation_data_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"data: no file gone\.npz"):
        DistillationBudget(data="gone.npz")
