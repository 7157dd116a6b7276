"""The strategic market: fresh states, and what it refuses."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.market.parameters import StrategicParameters
from tests.market.states import assert_refused
from tests.market.strategic_markets import COMMON, fresh, mixed


def test_bidders_of_a_type_differ_by_its_spread_and_not_by_more():
    who = mixed("shader", rate_spread=4.0, rivals_spread=100.0, learning_rate=0.2, rivals=10.0)
    _, state = fresh(who, 400)
    rates, rivals = state.bidders["learning_rate"], 1 / state.bidders["rivals_distance"]
    exponents = np.log(rates / 0.2) / np.log(4.0)
    assert exponents.min() == pytest.approx(-1, abs=0.01)
    assert rates.max() == pytest.approx(0.8, abs=0.01)
    assert exponents.mean() == pytest.approx(0, abs=0.04)
    assert exponents.std() == pytest.approx(3**-0.5, abs=0.02)
    assert rivals.min() == pytest.approx(0.1, rel=0.02)
    assert (rivals == 100).mean() == pytest.approx(0.25, abs=0.03)  # the most there is
    assert abs(np.corrcoef(np.log(rates).ravel(), np.log(rivals).ravel())[0, 1]) < 0.05
    quick = dataclasses.replace(who.types["shader"], learning_rate=0.9)
    _, state = fresh(dataclasses.replace(who, types={"shader": quick}), 400)
    assert (state.bidders["learning_rate"] == 1).mean() == pytest.approx(0.46, abs=0.03)


def test_bidders_and_rings_begin_with_what_their_types_and_the_parameters_say():
    parameters = StrategicParameters(ring_prior=0.5, shill_prior=0.25)
    _, state = fresh(
        mixed("shader", "colluder", "weak", expected_surplus=0.3, rivals=5.0), 3, parameters
    )
    assert state.rings.shape == (3, 2)
    assert_array_equal(state.rings["gain"], 0.5)
    assert_array_equal(state.bidders["kind"], np.tile([0, 0, 0, 0, 1, 1, 1, 2, 2, 2], (3, 1)))
    assert_array_equal(state.bidders["expected_surplus"], 0.3)
    assert_array_equal(state.bidders["shill_gain"], 0.25)
    assert_array_equal(state.bidders["rivals_seen"] / state.bidders["rivals_distance"], 5.0)
    assert_array_equal(state.bidders["learning_rate"], 0.05)


@pytest.mark.parametrize("names", [("truthful",), ("discreet", "weak"), COMMON])
def test_a_state_of_other_types_is_refused(names):
    """It may hold types that this market does not know, more or fewer rings, or other tables."""
    market, _ = fresh(mixed("truthful", "weak"), 2)
    _, state = fresh(mixed(*names), 2)
    assert_refused(market, state, 2, 1, "state")
