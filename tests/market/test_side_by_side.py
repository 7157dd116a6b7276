"""Several populations in one batch go as each would alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.market.population import BidderType, Population
from daedalus.market.ranges import Ranges
from daedalus.market.seeds import market_seeds
from daedalus.market.strategic import StrategicMarket
from tests.populations import TYPES, draw_mechanisms

RINGS = {
    name: BidderType(1, ["opt_out", "collude"], expected_surplus=0.04, rivals=3.0) for name in "ab"
}
POPULATIONS = [
    Population(types=TYPES),
    Population(types=RINGS | {"truthful": BidderType(0.5)}, concentration=1.0),
    Population(
        types={"fast": BidderType(1, ["opt_out", "shade"], learning_rate=0.9, expected_surplus=0.2)}
    ),
    Population(
        types={
            "hedge": BidderType(1, ["opt_out", "shade"], learner="hedge"),
            "q": BidderType(1, ["opt_out", "shade"], learner="q"),
        }
    ),
    Population(bidders=5, types=TYPES, units=1),
    Population(types=TYPES, ranges=Ranges(bidders=[3, 12], units=[1, 5], outside_option=[0, 0.3])),
]
COUNT = len(POPULATIONS)
SEEDS = market_seeds(3, "side by side", 20)


def test_each_population_goes_as_it_would_alone() -> None:
    mechanisms = draw_mechanisms(20 * COUNT, np.random.default_rng(0))
    together = StrategicMarket(POPULATIONS)
    state = together.reset(np.tile(SEEDS, COUNT))
    records = together.play(state, mechanisms, 30).records
    for number, population in enumerate(POPULATIONS):
        rows = np.arange(20) + 20 * number
        alone = StrategicMarket(population)
        expected = alone.reset(SEEDS)
        assert_array_equal(alone.play(expected, mechanisms.take(rows), 30).records, records[rows])
        assert_array_equal(alone.observe(expected).proxies, together.observe(state).proxies[rows])


def test_forks_stay_with_their_population() -> None:
    market = StrategicMarket(POPULATIONS)
    state = market.reset(np.tile(SEEDS, COUNT))
    rows = np.array([119, 99, 79, 3, 30])
    fork = state.fork(rows)
    mechanisms = draw_mechanisms(20 * COUNT, np.random.default_rng(1))
    played = market.play(fork, mechanisms.take(rows), 10).records
    assert_array_equal(market.play(state, mechanisms, 10).records[rows], played)


def test_populations_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="the same stage"):
        StrategicMarket([Population(), Population(stage=1)])
    with pytest.raises(ValueError, match="at least one"):
        StrategicMarket([])
    with pytest.raises(ValueError, match="19 episodes for 6 populations"):
        StrategicMarket(POPULATIONS).reset(SEEDS[:19])
