"""Settings of the tabular policy: what does not fit is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from daedalus.training.tabular_settings import TabularSettings


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"neighbours": 2}, "no other loss has them; set loss_type: boltzmann"),
        ({"sharpness": 2.0}, "no other loss has them; set loss_type: boltzmann"),
        ({"neighbours": 8, "loss_type": "boltzmann"}, "give less than group_size"),
        ({"states": 1}, "give as many or more"),
    ],
)
def test_settings_that_do_not_fit_are_refused(wrong: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        replace(TabularSettings(), **wrong)
