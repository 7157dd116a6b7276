"""The strategic kernels against a plain reference, alone and in batches."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.market.mechanism import Mechanism
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import Population
from daedalus.market.proxies import observe
from daedalus.market.strategic import StrategicMarket
from tests.market.compare_strategic import assert_kernel_is_reference
from tests.market.reference_classic import draw
from tests.market.states import assert_metrics_in_range, play
from tests.market.strategic_markets import (
    COMMON,
    TYPES,
    fresh,
    mixed,
    random_parameters,
    random_population,
)
from tests.populations import draw_mechanisms

RARE_EVENTS = (
    "nobody enters",
    "unverified prices",
    "demand reduction",
    "budget cap",
    "budget is spent",
    "paced bid",
    "exploiter is honest",
    "false name",
    "false name wins",
    "ring colludes",
    "ring competes",
    "ring too small",
    "ring is punished",
    "leader by lot",
    "ring member without money",
    "cover at the reserve",
    "deviation",
    "breakdown",
    "withdrawal",
    "worthless win given back",
    "shock",
    "collusion fine",
    "false accusation",
    "shill fine",
    "taken for a shill",
    "nothing to learn from",
    "noisy reading",
    "only the price is told",
    "rivals below the reserve",
    "absent bidder sees the price",
    "no sale",
    "unsold units",
    "sale under a secret reserve",
    "tie for the last unit",
    "personal prices",
)


def compare_random_populations(count: int, seed: int) -> Counter:
    rng, events = np.random.default_rng(seed), Counter()
    for number in range(count):
        parameters = random_parameters(rng) if number % 2 else None
        events += assert_kernel_is_reference(random_population(rng), 3, rng, parameters)
    return events


@pytest.mark.parametrize("names", [(name,) for name in TYPES] + [COMMON])
def test_kernel_follows_the_rules_for_every_shipped_type(names):
    assert_kernel_is_reference(mixed(*names), 8, np.random.default_rng(len(names[0])))


def test_kernel_follows_the_rules_for_any_population():
    compare_random_populations(40, 99)


@pytest.mark.slow
def test_kernel_follows_the_rules_for_many_populations_and_in_rare_events():
    events = compare_random_populations(250, 5)
    for event in RARE_EVENTS:
        assert events[event] > 10, f"the comparison hardly met: {event}"


def test_first_round_of_truthful_bidders_by_hand():
    seed = 7
    market = StrategicMarket(Population(), StrategicParameters(shock_rate=0.0))
    state = market.reset(np.array([seed], np.uint64))
    outcome = play(market, state, Mechanism(), 1)
    values = np.array([[draw(seed, 0, seat, unit) for unit in (0, 1)] for seat in range(8)])
    ranked = np.sort(values.ravel())[::-1]
    price, won = ranked[3], (values >= ranked[2]).sum(axis=1)
    assert_allclose(state.bids[0], values.max(axis=1), atol=1e-15)
    assert_array_equal(state.wins[0], won)
    assert outcome.field("clearing_price")[0, 0] == pytest.approx(price, abs=1e-15)
    assert outcome.field("revenue")[0, 0] == pytest.approx(3 * price, abs=1e-15)
    assert outcome.field("revenue_share")[0, 0] == pytest.approx(3 * price / ranked[:3].sum())
    for name in ("welfare", "participation", "stability"):
        assert outcome.field(name)[0, 0] == 1
    surplus = np.where(values >= ranked[2], values - price, 0).sum(axis=1)
    assert_allclose(state.bidders["surplus"][0], surplus, atol=1e-15)
    assert_allclose(state.bidders["spent"][0], won * price, atol=1e-15)
    gaps = np.abs(surplus[:, None] - surplus).sum() / (2 * 7 * surplus.sum())
    assert outcome.field("fairness")[0, 0] == pytest.approx(1 - gaps)


@pytest.mark.parametrize("reserve", [0.0, 0.9])
@pytest.mark.parametrize("units", [1, 5])
@pytest.mark.parametrize("bidders", [2, 64])
def test_the_smallest_and_largest_markets_play(bidders, units, reserve):
    who = mixed(*COMMON, bidders=bidders, units=units)
    market, state = fresh(who, 30)
    mechanisms = draw_mechanisms(30, np.random.default_rng(0))
    mechanisms = mechanisms.with_columns(reserve_price=np.full(30, reserve))
    assert_metrics_in_range(market.play(state, mechanisms, 30).records, who)
    assert_metrics_in_range(observe(state).history.rounds()[:, -20:], who)
