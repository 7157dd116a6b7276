"""What a strategic population accepts and refuses."""

from __future__ import annotations

import itertools

import pytest

from daedalus.market.population import MAX_BIDDERS, MAX_UNITS, STRATEGIES, BidderType, Population
from daedalus.market.ranges import Ranges

INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("kind", "changes", "match"),
    [
        (BidderType, {"menu": ["bribe"]}, "menu.*bribe.*opt_out"),
        (BidderType, {"value_low": -0.1}, "value_low"),
        (BidderType, {"value_high": 1.1}, "value_high"),
        (BidderType, {"value_low": 0.5, "value_high": 0.5}, "value_low"),
        (BidderType, {"value_low": 0.6, "value_high": 0.4}, "value_low"),
        (BidderType, {"value_low": NAN}, "value_low"),
        (BidderType, {"value_high": NAN}, "value_high"),
        (BidderType, {"menu": ["shade"], "learner": "exp3"}, "learner.*exp3.*hedge"),
        (BidderType, {"learner": "hedge"}, "add shade to the menu"),
        (BidderType, {"highest_factor": 0.3}, "highest_factor: 0.3; give .* above lowest_factor"),
        (BidderType, {"menu": ["opt_out"], "learner": "q"}, "add shade to the menu"),
        (Population, {"bidders": 1}, "bidders"),
        (Population, {"bidders": 65}, "bidders"),
        (Population, {"stage": -1}, "stage"),
        (Population, {"stage": 5}, "stage"),
        (Population, {"units": 0}, "units"),
        (Population, {"units": 6}, "units"),
        (Population, {"units": 2.5}, "units: 2.5; give an integer from 1 to 5"),
        (Population, {"bidders": 8.5}, "bidders: 8.5; give an integer from 2 to 64"),
        (Population, {"types": {}}, "types"),
        (Population, {"types": {"a": BidderType(share=0.0), "b": BidderType(share=0.0)}}, "types"),
        (Population, {"concentration": 0.0}, "concentration"),
        (Population, {"concentration": -1.0}, "concentration"),
        (Population, {"concentration": INF}, "concentration"),
        (Population, {"concentration": NAN}, "concentration"),
    ],
)
def test_what_cannot_be_is_refused(kind, changes, match):
    with pytest.raises(ValueError, match=match):
        kind(**changes)


@pytest.mark.parametrize(
    ("names", "values", "hint"),
    [
        ("demand", [0, 3], "give 1 or 2"),
        ("share outside_option budget", [-0.1, INF, NAN], "give a finite number from 0 up"),
        ("expected_surplus exploration_decay", [-0.1, INF, NAN], "give a finite number from 0"),
        ("rivals", [0.0, 0.009, 101.0, NAN], "give a number from 0.01 to 100"),
        ("rate_spread rivals_spread", [0.9, 100.1, NAN], "give a number from 1 to 100"),
        ("lowest_factor discount", [-0.1, 1.0, NAN], r"give a number in \[0, 1\)"),
        ("learning_rate discretion hedge_share", [-0.1, 1.1, NAN], "give a number from 0 to 1"),
        ("exploration highest_factor", [-0.1, 1.1, NAN], "give a number from 0 to 1"),
        ("hedge_rate", [0.0, 100.1, NAN], r"give a number in \(0, 100\]"),
        ("factors", [1, 33, 8.5], "give an integer from 2 to 32"),
    ],
)
def test_a_number_of_a_type_out_of_range_is_refused(names, values, hint):
    for name, value in itertools.product(names.split(), values):
        with pytest.raises(ValueError, match=f"^{name}: {value}; {hint}"):
            BidderType(**{name: value})


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        (BidderType, {"menu": list(STRATEGIES)}),
        (BidderType, {"value_low": 0.0, "value_high": 1.0}),
        (BidderType, {"share": 0.0, "outside_option": 0.0, "expected_surplus": 0.0, "budget": 0.0}),
        (BidderType, {"budget": None}),
        (BidderType, {"rivals": 0.01}),
        (BidderType, {"rivals": 100.0}),
        (BidderType, {"learning_rate": 1.0, "discretion": 1.0}),
        (BidderType, {"rate_spread": 1.0, "rivals_spread": 100.0}),
        (BidderType, {"menu": ["shade"], "learner": "hedge", "factors": 2, "hedge_rate": 100.0}),
        (BidderType, {"menu": ["shade"], "learner": "q", "factors": 32, "exploration": 1.0}),
        (BidderType, {"hedge_share": 0.0, "exploration": 0.0}),
        (BidderType, {"lowest_factor": 0.0, "discount": 0.0}),
        (Population, {"bidders": 2, "units": 1}),
        (Population, {"bidders": MAX_BIDDERS, "units": MAX_UNITS, "stage": 4}),
        (Population, {"concentration": 1e-3}),
        (Population, {"types": {"a": BidderType(share=0.0), "b": BidderType(share=1e-9)}}),
    ],
)
def test_what_is_at_the_ends_of_its_ranges_is_accepted(kind, changes):
    each = kind(**changes)
    for name, value in changes.items():
        assert getattr(each, name) == value


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
