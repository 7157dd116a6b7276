"""What a strategic population accepts and refuses."""

from __future__ import annotations

import itertools

import pytest

from daedalus.market.population import MAX_BIDDERS, MAX_UNITS, STRATEGIES, BidderType, Population
from daedalus.market.ranges import Ranges

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"menu": ["bribe"]}, "menu.*bribe.*opt_out"),
        ({"menu": ["shade", "collide"]}, "collide"),
        ({"value_low": -0.1}, "value_low"),
        ({"value_high": 1.1}, "value_high"),
        ({"value_low": 0.5, "value_high": 0.5}, "value_low"),
        ({"value_low": 0.6, "value_high": 0.4}, "value_low"),
        ({"value_low": NAN}, "value_low"),
        ({"value_high": NAN}, "value_high"),
        ({"menu": ["shade"], "learner": "exp3"}, "learner.*exp3.*hedge"),
        ({"learner": "hedge"}, "add shade to the menu"),
        ({"highest_factor": 0.3}, "highest_factor: 0.3; give a number above lowest_factor"),
        ({"menu": ["opt_out"], "learner": "q"}, "add shade to the menu"),
    ],
)
def test_a_type_that_cannot_be_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        BidderType(**changes)


@pytest.mark.parametrize(
    ("names", "values", "hint"),
    [
        ("demand", [0, 3], "give 1 or 2"),
        ("share outside_option expected_surplus budget", [-0.1, INF, NAN], "give a finite number"),
        ("exploration_decay", [-0.1, INF, NAN], "give a finite number from 0 up"),
        ("rivals", [0.0, 0.009, 101.0, NAN], "give a number from 0.01 to 100"),
        ("rate_spread rivals_spread", [0.9, 100.1, NAN], "give a number from 1 to 100"),
        (
            "discretion hedge_share exploration highest_factor",
            [-0.1, 1.1, NAN],
            "give a number from 0 to 1",
        ),
        ("lowest_factor discount", [-0.1, 1.0, NAN], r"give a number in \[0, 1\)"),
        ("learning_rate", [-0.1, 1.1, NAN], "give a number from 0 to 1"),
        ("hedge_rate", [0.0, 100.1, NAN], r"give a number in \(0, 100\]"),
        ("factors", [1, 33, 8.5], "give an integer from 2 to 32"),
    ],
)
def test_a_number_of_a_type_out_of_range_is_refused(names, values, hint):
    for name, value in itertools.product(names.split(), values):
        with pytest.raises(ValueError, match=f"^{name}: {value}; {hint}"):
            BidderType(**{name: value})


@pytest.mark.parametrize(
    "changes",
    [
        {"menu": list(STRATEGIES)},
        {"value_low": 0.0, "value_high": 1.0},
        {"share": 0.0, "outside_option": 0.0, "expected_surplus": 0.0, "budget": 0.0},
        {"budget": None},
        {"rivals": 0.01},
        {"rivals": 100.0},
        {"learning_rate": 1.0, "discretion": 1.0},
        {"rate_spread": 1.0, "rivals_spread": 100.0},
        {"menu": ["shade"], "learner": "hedge", "factors": 2, "hedge_rate": 100.0},
        {"menu": ["shade"], "learner": "q", "factors": 32, "exploration": 1.0},
        {"hedge_share": 0.0, "exploration": 0.0, "lowest_factor": 0.0, "discount": 0.0},
    ],
)
def test_a_type_at_the_ends_of_its_ranges_is_accepted(changes):
    each = BidderType(**changes)
    for name, value in changes.items():
        assert getattr(each, name) == value


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"bidders": 1}, "bidders"),
        ({"bidders": 65}, "bidders"),
        ({"stage": -1}, "stage"),
        ({"stage": 5}, "stage"),
        ({"units": 0}, "units"),
        ({"units": 6}, "units"),
        ({"units": 2.5}, "units: 2.5; give an integer from 1 to 5"),
        ({"bidders": 8.5}, "bidders: 8.5; give an integer from 2 to 64"),
        ({"types": {}}, "types"),
        ({"types": {"a": BidderType(share=0.0), "b": BidderType(share=0.0)}}, "types"),
        ({"concentration": 0.0}, "concentration"),
        ({"concentration": -1.0}, "concentration"),
        ({"concentration": INF}, "concentration"),
        ({"concentration": NAN}, "concentration"),
    ],
)
def test_a_population_that_cannot_be_is_refused(changes, match):
    with pytest.raises(ValueError, match=match):
        Population(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"bidders": 2, "units": 1},
        {"bidders": MAX_BIDDERS, "units": MAX_UNITS, "stage": 4},
        {"concentration": 1e-3},
        {"types": {"a": BidderType(share=0.0), "b": BidderType(share=1e-9)}},
    ],
)
def test_a_population_at_the_ends_of_its_ranges_is_accepted(changes):
    who = Population(**changes)
    for name, value in changes.items():
        assert getattr(who, name) == value


def test_defaults_are_not_shared():
    one, other = Population(), Population()
    one.types["truthful"].menu.append("shade")
    assert other.types["truthful"].menu == []


@pytest.mark.parametrize(
    ("ranges", "match"),
    [
        ({"bidders": [1, 8]}, "ranges: bidders: 1"),
        ({"bidders": [4, 65]}, "ranges: bidders: 65"),
        ({"units": [1, 6]}, "ranges: units: 6"),
        ({"value_low": [0.2, 1.0]}, "ranges: value_low 1.0"),
        ({"value_low": [0.1, 0.6], "value_high": [0.5, 0.9]}, "value_low 0.6, value_high 0.5"),
        ({"rivals": [0.001, 5.0]}, "ranges: rivals: 0.001"),
        ({"learning_rate": [0.1, 1.5]}, "ranges: learning_rate: 1.5"),
        ({"discretion": [-0.1, 0.5]}, "ranges: discretion: -0.1"),
        ({"outside_option": [0.0, INF]}, "ranges: outside_option: inf"),
    ],
)
def test_a_population_may_not_draw_what_it_may_not_be(ranges, match):
    with pytest.raises(ValueError, match=match):
        Population(ranges=Ranges(**ranges))


def test_the_most_bidders_are_those_of_the_range():
    assert Population(bidders=9).most_bidders == 9
    assert Population(bidders=9, ranges=Ranges(bidders=[3, 12])).most_bidders == 12


def test_a_size_takes_the_place_of_a_range():
    drawn = Population(ranges=Ranges(bidders=[3, 12], units=[1, 5]))
    assert drawn.of_size(9) == Population(bidders=9, ranges=Ranges(units=[1, 5]))


def test_a_fixed_population_draws_nothing():
    types = {"a": BidderType(2.0)}
    drawn = Population(stage=2, concentration=1.0, ranges=Ranges(units=[1, 5])).fixed(types, 5, 4)
    assert drawn == Population(stage=2, bidders=5, units=4, types=types)


RING = {"ring": BidderType(0.2, ["collude"]), "rest": BidderType(0.8)}


@pytest.mark.parametrize("bidders", [2, 4, 7])
def test_a_ring_of_one_is_refused(bidders):
    with pytest.raises(ValueError, match=r"types\.ring: .* a ring needs two"):
        Population(bidders=bidders, types=RING).check_rings()


@pytest.mark.parametrize(
    "changes",
    [
        {"bidders": 8},
        {"bidders": 4, "concentration": 1.0},
        {"bidders": 4, "ranges": Ranges(bidders=[4, 20])},
        {"bidders": 4, "types": RING | {"ring": BidderType(0.0, ["collude"])}},
    ],
)
def test_a_ring_that_may_have_two_members_or_that_nobody_asks_for_is_fine(changes):
    Population(**{"types": RING} | changes).check_rings()
