"""Ranges: two ends in order, and their corners."""

from __future__ import annotations

from dataclasses import fields

import pytest

from daedalus.market.population import BidderType, Population
from daedalus.market.ranges import LOG_UNIFORM, SIZES, TRAITS, Ranges

NAN = float("nan")


def test_there_is_a_range_for_each_size_and_trait() -> None:
    assert [each.name for each in fields(Ranges)] == [*SIZES, *TRAITS]
    assert set(SIZES) <= {each.name for each in fields(Population)}
    assert set(TRAITS) <= {each.name for each in fields(BidderType)}
    assert set(LOG_UNIFORM) <= set(TRAITS)


@pytest.mark.parametrize("ends", [[1.0], [0.5, 0.2], [0.1, 0.2, 0.3], [], [NAN, 1.0], [0.0, NAN]])
def test_a_range_has_two_ends_in_order(ends: list[float]) -> None:
    with pytest.raises(ValueError, match=r"^discretion: .*the lower first"):
        Ranges(discretion=ends)


@pytest.mark.parametrize("trait", LOG_UNIFORM)
def test_a_logarithmic_range_has_no_zero(trait: str) -> None:
    with pytest.raises(ValueError, match=f"^{trait}: .*above 0"):
        Ranges(**{trait: [0.0, 1.0]})


def test_ranges_that_are_not_given_are_left_out() -> None:
    assert not Ranges().varies
    ranges = Ranges(units=[1, 5], rivals=[2.0, 2.0])
    assert ranges.varies
    assert ranges.of(SIZES) == {"units": [1, 5]}
    assert ranges.of(TRAITS) == {"rivals": [2.0, 2.0]}


def test_values_are_widest_at_one_end_and_narrowest_at_the_other() -> None:
    ranges = Ranges(value_low=[0.0, 0.4], value_high=[0.6, 1.0], budget=[1.0, 2.0])
    assert ranges.at(TRAITS, 0) == {"value_low": 0.0, "value_high": 1.0, "budget": 1.0}
    assert ranges.at(TRAITS, 1) == {"value_low": 0.4, "value_high": 0.6, "budget": 2.0}
