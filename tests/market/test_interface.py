"""The settings of a market refuse values that cannot be played."""

from __future__ import annotations

import pytest

from daedalus.market.interface import MarketSettings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("name", "clasic"),
        ("episode_length", 0),
        ("rounds_per_step", 0),
        ("scored_rounds", 0),
        ("scored_rounds", 6),
        ("warmup_rounds", -1),
        ("incumbents", {}),
    ],
)
def test_a_bad_setting_is_refused_by_name_and_value(name, value):
    with pytest.raises(ValueError, match=name) as caught:
        MarketSettings(**{name: value})
    assert not value or repr(value) in str(caught.value)
