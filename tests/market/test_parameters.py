"""The constants of the strategic market refuse values that cannot be played."""

from __future__ import annotations

import dataclasses

import pytest

from daedalus.market.parameters import StrategicParameters


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("entry_scale", 0.0),
        ("reduction_scale", 0.0),
        ("ring_scale", 0.0),
        ("shill_scale", 0.0),
        ("ring_patience", 1.0),
    ],
)
def test_parameters_do_not_divide_by_zero(name, value):
    with pytest.raises(ValueError, match=name):
        StrategicParameters(**{name: value})


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf")])
@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(StrategicParameters)])
def test_parameters_are_finite_and_not_negative(name, value):
    with pytest.raises(ValueError, match=name):
        StrategicParameters(**{name: value})
