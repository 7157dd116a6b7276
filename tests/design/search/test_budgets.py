"""Budgets that name what is not there are refused when they are made."""

from __future__ import annotations

import pytest

from daedalus.design.search.budgets import DistillationBudget


def test_distillation_data_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"data: no file gone\.npz"):
        DistillationBudget(data="gone.npz")
