"""Observations: what the market shows goes over the wire and comes back to a designer."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.design.env import DesignEnv
from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observation import PROXIES, Observation
from daedalus.market.outcome import ROUND_FIELDS
from daedalus.market.seeds import market_seeds
from daedalus.service.openenv.messages import PartialObservation, RoundOutcome
from daedalus.service.openenv.observations import from_wire, to_wire, wire_mechanism
from tests.populations import population

CHOSEN = Mechanism(auction_type="first_price", reserve_price=0.2)


@pytest.fixture(scope="module")
def seen() -> Observation:
    """Return the observation of two markets after one step."""
    env = DesignEnv.of(MarketSettings(), population(3))
    episodes = env.reset(market_seeds(3, "service", 2))
    episodes.step(Mechanisms.repeat(CHOSEN, 2))
    return episodes.observe()


def test_the_first_market_goes_over_the_wire_and_back(seen: Observation) -> None:
    told = to_wire(seen)
    part = PartialObservation.model_validate_json(
        told.model_dump_json(include=set(PartialObservation.model_fields))
    )
    back = from_wire(part)
    assert back.mechanisms[0] == wire_mechanism(seen.mechanisms).to_mechanism() == CHOSEN
    assert_allclose(back.recent[0], seen.recent[0], rtol=1e-12)
    assert_array_equal(back.proxies, seen.proxies[:1])
    assert back.round_number.tolist() == [1]
    assert (back.episode_length, back.stage) == (seen.episode_length, seen.stage)


def test_rounds_that_were_not_played_are_left_out(seen: Observation) -> None:
    told = to_wire(seen)
    played = np.isfinite(seen.recent[0, :, 0])
    assert 0 < len(told.market_outcomes) == played.sum() < HISTORY_LENGTH
    for outcome, record in zip(told.market_outcomes, seen.recent[0, played], strict=True):
        assert outcome.clearing_price == record[ROUND_FIELDS.index("clearing_price")]
        assert outcome.fairness == 1.0 - record[ROUND_FIELDS.index("gini")]


def test_an_unknown_number_is_nan_and_rounds_fill_up_from_the_newest() -> None:
    outcomes = [RoundOutcome(welfare=0.5), RoundOutcome(fairness=0.75)]
    back = from_wire(PartialObservation(market_outcomes=outcomes))
    assert np.isnan(back.recent[0, :-2]).all()
    older, newer = (dict(zip(ROUND_FIELDS, row, strict=True)) for row in back.recent[0, -2:])
    assert older.pop("welfare") == 0.5 and newer.pop("gini") == 0.25
    assert np.isnan([*older.values(), *newer.values()]).all()
    assert back.proxies.shape == (1, len(PROXIES)) and np.isnan(back.proxies).all()
    assert back.mechanisms[0] == Mechanism() and back.stage == 0
