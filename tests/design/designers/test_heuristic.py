"""The heuristic designer: each of its reactions, and all of them together."""

from __future__ import annotations

import dataclasses

import pytest
from numpy.testing import assert_array_equal

from daedalus.design.designers.base import DesignerContext
from daedalus.design.designers.heuristic import HeuristicDesigner, HeuristicSettings
from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.mechanism import Mechanism
from daedalus.market.observation import PROXIES, Observation
from daedalus.market.outcome import ROUND_FIELDS
from tests.design.designers.observations import observe, rng
from tests.design.search.markets import env_of

BASE = Mechanism(reserve_price=0.10, coalition_policy="penalize_suspected")
RING = dataclasses.replace(BASE, auction_type="first_price", collusion_penalty=1.5)
HIGH_RESERVE = Mechanism(reserve_price=0.8)


def heuristic(observations: Observation) -> Mechanism:
    designer = HeuristicSettings().build(DesignerContext(env_of(), 0))
    proposal = designer.propose(observations, rng())
    assert not proposal.malformed.any()
    return proposal[0]


def test_heuristic_in_quiet_times_is_a_second_price_auction_that_reveals_its_price():
    assert heuristic(observe()) == heuristic(observe(known=0)) == BASE
    assert BASE.auction_type == "second_price"
    assert BASE.reveal_clearing_price


@pytest.mark.parametrize(("signal", "expected"), [(0.64, BASE), (0.66, RING), (1.0, RING)])
def test_heuristic_fights_a_ring_above_the_alarm(signal, expected):
    assert heuristic(observe(collusion_signal=signal)) == expected


@pytest.mark.parametrize(
    ("loud", "signal", "expected"), [(4, 1.0, RING), (4, 0.8, BASE), (3, 1.0, BASE)]
)
def test_heuristic_looks_back_five_rounds(loud, signal, expected):
    """The newest rounds are loud and those before silent: the mean of five is a part of it."""
    observed = observe()
    observed.history.blocks[0][
        :, HISTORY_LENGTH - loud :, ROUND_FIELDS.index("collusion_signal")
    ] = signal
    assert heuristic(observed) == expected


def test_heuristic_sees_a_ring_in_fewer_rounds_than_five():
    """Rounds before the first are unknown, not quiet."""
    assert heuristic(observe(known=3, collusion_signal=0.8)) == RING


@pytest.mark.parametrize(("trend", "sliding"), [(-0.009, False), (-0.011, True), (0.5, False)])
def test_heuristic_hides_a_sliding_price(trend, sliding):
    expected = dataclasses.replace(BASE, reveal_clearing_price=not sliding)
    assert heuristic(observe(clearing_price_trend=trend)) == expected


def test_heuristic_hides_a_rings_sliding_price_too():
    expected = dataclasses.replace(RING, reveal_clearing_price=False)
    assert heuristic(observe(collusion_signal=0.9, clearing_price_trend=-0.1)) == expected


@pytest.mark.parametrize(
    ("reserve", "expected"), [(0.8, 0.4), (0.2, 0.1), (0.1, 0.05), (0.06, 0.05), (0.02, 0.02)]
)
def test_heuristic_halves_the_reserve_in_force_when_bidders_leave(reserve, expected):
    in_force = Mechanism(reserve_price=reserve)
    proposal = heuristic(observe(mechanism=in_force, dropout_rate=0.125))
    assert proposal == dataclasses.replace(BASE, reserve_price=expected)
    assert heuristic(observe(mechanism=in_force, dropout_rate=0.1)) == BASE
    assert in_force.reserve_price == reserve


def test_heuristic_answers_each_market_for_itself():
    observed = observe(4, mechanism=HIGH_RESERVE)
    observed.history.blocks[0][1, :, ROUND_FIELDS.index("collusion_signal")] = 0.9
    observed.proxies[2, PROXIES.index("clearing_price_trend")] = -0.1
    observed.proxies[3, PROXIES.index("dropout_rate")] = 0.5
    proposal = HeuristicDesigner().propose(observed, rng())
    hidden = dataclasses.replace(BASE, reveal_clearing_price=False)
    lower = dataclasses.replace(BASE, reserve_price=0.4)
    assert [proposal[i] for i in range(4)] == [BASE, RING, hidden, lower]
    assert_array_equal(observed.mechanisms.reserve_price, 0.8)
