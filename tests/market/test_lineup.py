"""Who comes to each episode: what is drawn, from where, and from nothing but the seed."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.market.lineup import draw_lineup, sampled_populations
from daedalus.market.population import BidderType, Population
from daedalus.market.ranges import LOG_UNIFORM, TRAITS, Ranges
from daedalus.market.seeds import market_seeds
from daedalus.market.strategic import StrategicMarket
from tests.populations import TYPES, draw_mechanisms

SEEDS = market_seeds(4, "lineup", 4_000)
RANGES = Ranges(
    bidders=[4, 16],
    units=[1, 5],
    value_low=[0.0, 0.4],
    value_high=[0.7, 1.0],
    outside_option=[0.0, 0.3],
    budget=[1.0, 8.0],
    expected_surplus=[0.0, 0.1],
    rivals=[1.0, 50.0],
    learning_rate=[0.01, 0.2],
    discretion=[0.0, 0.9],
)
LEARNING = {
    "hedge": BidderType(1, ["opt_out", "shade"], learner="hedge", rate_spread=3.0),
    "q": BidderType(1, ["opt_out", "shade"], learner="q", rivals_spread=3.0),
}
WORLD = Population(types=TYPES | LEARNING, concentration=1.0, ranges=RANGES)


def test_sizes_are_even_over_their_ranges():
    lineup = draw_lineup(WORLD, SEEDS)
    for drawn, (low, high) in ((lineup.bidders, (4, 16)), (lineup.units, (1, 5))):
        counts = np.bincount(drawn)[low:]
        assert len(counts) == high - low + 1
        expected = len(SEEDS) / len(counts)
        assert (np.abs(counts - expected) < 4.5 * np.sqrt(expected)).all()
    assert abs(np.corrcoef(lineup.bidders, lineup.units)[0, 1]) < 0.06


@pytest.mark.parametrize("trait", TRAITS)
def test_traits_are_even_over_their_ranges(trait):
    lineup = draw_lineup(Population(types=TYPES, ranges=RANGES), SEEDS)
    low, high = getattr(RANGES, trait)
    drawn = lineup.traits[trait][lineup.kinds == (4 if trait == "budget" else 1)]
    draws = np.log(drawn / low) / np.log(high / low) if trait in LOG_UNIFORM else drawn
    first = 0.0 if trait in LOG_UNIFORM else low
    last = 1.0 if trait in LOG_UNIFORM else high
    assert low <= drawn.min() <= drawn.max() <= high
    assert np.mean(draws) == pytest.approx((first + last) / 2, abs=0.03 * (last - first))
    assert np.std(draws) == pytest.approx((last - first) * 12**-0.5, rel=0.05)


def test_bidders_of_a_type_share_its_traits_and_types_draw_apart():
    lineup = draw_lineup(
        Population(bidders=16, types=TYPES, ranges=Ranges(discretion=[0, 1])), SEEDS
    )
    drawn = lineup.traits["discretion"]
    for t in range(len(TYPES)):
        of_type = np.where(lineup.kinds == t, drawn, np.nan)
        assert_array_equal(np.nanmin(of_type, axis=1), np.nanmax(of_type, axis=1))
    first, second = drawn[:, 0], drawn[:, -1]
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.06


def test_a_bidder_may_expect_all_others_as_rivals():
    types = {"knowing": BidderType(rivals=None), "guessing": BidderType(rivals=7.0)}
    lineup = draw_lineup(Population(types=types, ranges=Ranges(bidders=[2, 9])), SEEDS[:200])
    others = np.broadcast_to(lineup.bidders[:, None] - 1, lineup.kinds.shape)
    assert_array_equal(lineup.traits["rivals"], np.where(lineup.kinds == 0, others, 7.0))


def test_a_type_without_a_budget_gets_none():
    lineup = draw_lineup(WORLD, SEEDS[:200])
    limited = np.isfinite(lineup.traits["budget"])
    assert_array_equal(limited, lineup.kinds == list(WORLD.types).index("exploiter"))


def test_what_has_no_range_is_what_the_population_says():
    lineup = draw_lineup(Population(bidders=6, units=2, types=TYPES), SEEDS[:50])
    assert (lineup.bidders == 6).all()
    assert (lineup.units == 2).all()
    outside = np.array([each.outside_option for each in TYPES.values()])
    assert_array_equal(lineup.traits["outside_option"], outside[lineup.kinds])


def test_an_episode_depends_on_its_seed_alone():
    together, reversed_ = draw_lineup(WORLD, SEEDS[:60]), draw_lineup(WORLD, SEEDS[59::-1])
    assert_array_equal(together.kinds, reversed_.kinds[::-1])
    assert_array_equal(together.bidders, reversed_.bidders[::-1])
    for name, drawn in together.traits.items():
        assert_array_equal(drawn, reversed_.traits[name][::-1])


def test_each_episode_goes_as_it_would_in_a_market_of_its_own():
    """Episodes of several sizes in one batch: the same numbers, to the bit."""
    seeds = SEEDS[:40]
    mechanisms = draw_mechanisms(40, np.random.default_rng(0))
    market = StrategicMarket(WORLD)
    state = market.reset(seeds)
    records = market.play(state, mechanisms, 25).records
    observed = market.observe(state)
    assert len(np.unique(state.sizes)) > 8
    asked = copy.deepcopy(WORLD)
    for row, population in enumerate(sampled_populations(asked, seeds)):
        assert population.concentration is None and not population.ranges.varies
        alone = StrategicMarket(population)
        own = alone.reset(seeds[row : row + 1])
        played = alone.play(own, mechanisms.take(np.array([row])), 25).records
        assert_array_equal(played[0], records[row])
        assert_array_equal(own.wins[0], state.wins[row, : population.bidders])
        assert_array_equal(alone.observe(own).proxies[0], observed.proxies[row])
        assert_array_equal(alone.observe(own).history.rounds()[0], observed.history.rounds()[row])
        assert_array_equal(own.bidders["kind"][0], state.bidders["kind"][row, : population.bidders])
    assert row == 39 and asked == WORLD


def test_empty_seats_stay_empty():
    market = StrategicMarket(WORLD)
    state = market.reset(SEEDS[:100])
    market.play(state, draw_mechanisms(100, np.random.default_rng(1)), 10)
    empty = np.arange(16) >= state.sizes[:, None]
    for name in ("active", "bids", "previous_bids", "wins", "alias_bids"):
        assert not getattr(state, name)[empty].any(), name
