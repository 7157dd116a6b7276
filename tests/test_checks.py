"""Checks of numeric settings."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from daedalus.checks import require_at_least


def test_numbers_from_the_lowest_up_pass() -> None:
    require_at_least(1, SimpleNamespace(one=1, two=2.5, other=-7), "one", "two")


@pytest.mark.parametrize("value", [0, 0.99, -1, math.nan, math.inf, -math.inf])
def test_what_is_lower_or_not_finite_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match=f"^steps: {value}; give a finite number from 1 up$"):
        require_at_least(1, SimpleNamespace(steps=value), "steps")
