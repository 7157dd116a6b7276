"""The records that the kernels read hold what the market has, under the same names."""

from __future__ import annotations

from dataclasses import fields
from inspect import cleandoc

import numpy as np
import pytest

from daedalus.market.kernels.records import BIDDER, TYPE, Round
from daedalus.market.population import BidderType, Population
from daedalus.market.ranges import TRAITS
from daedalus.market.strategic import StrategicMarket, StrategicState, type_columns
from daedalus.market.value_distribution import ValueDistribution

NOT_COPIED = {"menu", "share", "rate_spread", "rivals_spread", *TRAITS}


def test_a_bidder_s_record_is_described_field_by_field() -> None:
    described = cleandoc(StrategicState.__doc__ or "")  # Python 3.13 keeps it without margins
    for name in BIDDER.names or ():
        assert f"    {name}: " in described, name


def test_every_parameter_of_a_type_reaches_its_record_or_its_bidders() -> None:
    plain = BidderType(menu=["collude"])
    for each in fields(BidderType):
        if each.name in NOT_COPIED | {"learner", "efficient_ring"}:
            continue
        values = ValueDistribution("exponential", mean=0.125)
        value = {
            "demand": 1, "factors": 5, "values": values,
            "highest_factor": 0.75, "recalls_win": False,
        }.get(each.name, 0.125)  # fmt: skip
        changed = BidderType(menu=["collude"], **{each.name: value})
        assert type_columns([changed]).tobytes() != type_columns([plain]).tobytes(), each.name


@pytest.mark.parametrize("trait", TRAITS)
def test_every_trait_reaches_the_records_of_its_bidders(trait: str) -> None:
    plain, changed = (
        StrategicMarket(Population(types={"only": each})).reset(np.zeros(1, np.uint64)).bidders
        for each in (BidderType(), BidderType(**{trait: 0.125}))
    )
    assert plain.tobytes() != changed.tobytes()


def test_records_are_small_and_plain() -> None:
    """A round holds no arrays: compiled code would count references to them at each call."""
    for record in (TYPE, BIDDER):
        arrays = {field[0] for field in record.descr if len(field) > 2}
        assert arrays == ({"levels", "places"} if record is TYPE else set())
    assert not any(
        "NDArray" in str(kind) or kind == "Records" for kind in Round.__annotations__.values()
    )
