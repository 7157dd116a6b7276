"""What a seat plan accepts and refuses, and which seats its groups take."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.market.seat_plan import BIDDER_KINDS, BidderGroup, SeatPlan

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"bidders": 1}, "bidders"),
        ({"bidders": 65}, "bidders"),
        ({"stage": 5}, "stage"),
        ({"groups": {}}, "seat 0 is empty"),
        ({"groups": {"a": BidderGroup(seats=[0]), "b": BidderGroup()}, "bidders": 1}, "bidders"),
        ({"groups": {"a": BidderGroup(seats=list(range(7)))}}, "seat 7 is empty"),
        ({"groups": {"a": BidderGroup(seats=[8]), "b": BidderGroup()}}, r"a\.seats: seat 8"),
        ({"groups": {"a": BidderGroup(seats=[-1]), "b": BidderGroup()}}, "seat -1"),
        ({"groups": {"a": BidderGroup("shader", []), "b": BidderGroup("dropout", [0])}}, "seat 1"),
        ({"groups": {"a": BidderGroup(seats=[3, 3]), "b": BidderGroup()}}, "seat 3"),
        (
            {"groups": {"a": BidderGroup(seats=[2]), "b": BidderGroup("shader", [2])}},
            "both a and b",
        ),
    ],
)
def test_a_plan_that_cannot_be_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        SeatPlan(**changes)


@pytest.mark.parametrize("seats", [[4], [4, 5, 6], []])
def test_colluders_come_in_pairs(seats):
    groups = {"truthful": BidderGroup(), "ring": BidderGroup("colluder", seats)}
    with pytest.raises(ValueError, match=r"groups\.ring\.seats"):
        SeatPlan(groups=groups)


@pytest.mark.parametrize("kind", ["shader", "dropout", "exploiter"])
def test_a_group_without_seats_is_refused_unless_it_is_truthful(kind):
    groups = {"truthful": BidderGroup(), "nobody": BidderGroup(kind)}
    with pytest.raises(ValueError, match=rf"groups\.nobody\.seats: \[\]; give a {kind} at least"):
        SeatPlan(groups=groups)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"kind": "crook"}, "kind.*crook"),
        ({"value_low": -0.1}, "value_low"),
        ({"value_high": 1.1}, "value_high"),
        ({"value_low": 0.9, "value_high": 0.9}, "value_low"),
        ({"value_high": NAN}, "value_high"),
        ({"threshold": -0.1}, "threshold"),
        ({"budget": INF}, "budget"),
        ({"budget": NAN}, "budget"),
    ],
)
def test_a_group_out_of_range_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        BidderGroup(**changes)


def test_groups_take_their_seats_and_the_truthful_the_rest():
    groups = {
        "rest": BidderGroup(),
        "ring": BidderGroup("colluder", [3, 0], value_low=0.4),
        "poor": BidderGroup("exploiter", [4], budget=1.5),
    }
    who = SeatPlan(bidders=5, groups=groups)
    assert who.seat_groups() == ["ring", "rest", "rest", "ring", "poor"]
    kinds = [BIDDER_KINDS[kind] for kind in who.kinds()]
    assert kinds == ["colluder", "truthful", "truthful", "colluder", "exploiter"]
    assert_array_equal(who.column("value_low"), [0.4, 0.3, 0.3, 0.4, 0.3])
    assert_array_equal(who.column("budget"), [0, 0, 0, 0, 1.5])
    assert who.column("budget").dtype == np.float64


def test_defaults_are_not_shared():
    one, other = SeatPlan(), SeatPlan()
    one.groups["more"] = BidderGroup("shader")
    assert list(other.groups) == ["truthful"]


def test_a_plan_of_another_size_fills_or_refuses_its_seats():
    assert SeatPlan(bidders=8).of_size(12) == SeatPlan(bidders=12)
    seated = SeatPlan(groups={"truthful": BidderGroup(), "last": BidderGroup("shader", [7])})
    with pytest.raises(ValueError, match="seat 7 does not exist"):
        seated.of_size(7)
