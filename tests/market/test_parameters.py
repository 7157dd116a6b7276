"""The constants of the strategic market refuse values that cannot be played."""

from __future__ import annotations

import dataclasses

import pytest

from daedalus.market.parameters import StrategicParameters

NAMES = [each.name for each in dataclasses.fields(StrategicParameters)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, value) for name in NAMES for value in (-0.1, float("nan"), float("inf"))),
        *((name, 0.0) for name in NAMES if name.endswith("_scale")),
        ("ring_patience", 1.0),
    ],
)
def test_what_cannot_be_played_is_refused(name, value):
    with pytest.raises(ValueError, match=name):
        StrategicParameters(**{name: value})
