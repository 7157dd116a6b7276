"""Play markets and compare their states; not a test."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.market.classic import ClassicMarket
from daedalus.market.interface import Market
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observation import Observation
from daedalus.market.outcome import ROUND_FIELDS, Outcome
from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan
from daedalus.market.seeds import market_seeds
from daedalus.market.state import MarketState
from tests.populations import draw_mechanisms, seat_plan


def play(market: Market, state: MarketState, mechanism: Mechanism, rounds: int) -> Outcome:
    """Play rounds under one mechanism in all markets."""
    return market.play(state, Mechanisms.repeat(mechanism, len(state)), rounds)


def played_classic(batch: int = 32, stage: int = 4, rounds: int = 30):
    """Return a classic market, its state after some rounds, the mechanisms played, and records."""
    market = ClassicMarket(seat_plan(stage))
    mechanisms = draw_mechanisms(batch, np.random.default_rng(batch))
    state = market.reset(market_seeds(3, "played", batch))
    outcome = market.play(state, mechanisms, rounds)
    return market, state, mechanisms, outcome.records


def play_references(episodes: Sequence[Any], phases: Sequence[tuple[Any, int]]) -> np.ndarray:
    """Play each of B plain episodes through all (mechanisms, rounds) phases; return the records."""
    return table(
        [r for mechanisms, rounds in phases for r in episode.play(mechanisms[row], rounds)]
        for row, episode in enumerate(episodes)
    )


def table(records: Iterable[list[dict[str, float]]]) -> np.ndarray:
    """Return records of B episodes and R rounds in the order of ``ROUND_FIELDS``."""
    return np.array([[[r[f] for f in ROUND_FIELDS] for r in rows] for rows in records])


def seen(observation: Observation) -> bytes:
    """Return all that a designer sees of a batch."""
    arrays = (observation.history.rounds(), observation.proxies, observation.round_number)
    return b"".join(each.tobytes() for each in (*arrays, observation.mechanisms.numbers))


def arrays(state: MarketState) -> dict[str, np.ndarray]:
    """Return all arrays of a state, and the rounds of its history."""
    found = {f.name: getattr(state, f.name) for f in dataclasses.fields(state)}
    return found | {"history": state.history.rounds()}


def assert_same_state(left: MarketState, right: MarketState) -> None:
    for name, array in arrays(left).items():
        assert array.tobytes() == arrays(right)[name].tobytes(), name


def assert_metrics_in_range(records: np.ndarray, who: Population | SeatPlan) -> None:
    assert np.isfinite(records).all()
    price = 1.0 if isinstance(who, SeatPlan) else np.inf
    high = {"dropouts": who.bidders, "clearing_price": price, "revenue": price}
    for column, name in enumerate(ROUND_FIELDS):
        assert records[..., column].min() >= 0, name
        assert records[..., column].max() <= high.get(name, 1), name
    dropouts = records[..., ROUND_FIELDS.index("dropouts")]
    assert_array_equal(dropouts, np.round(dropouts))


def assert_refused(
    market: Market, state: MarketState, mechanisms: int, rounds: int, match: str
) -> None:
    """Check that a market refuses to play, and changes nothing."""
    before = copy.deepcopy(state)
    with pytest.raises(ValueError, match=match):
        market.play(state, Mechanisms.repeat(Mechanism(), mechanisms), rounds)
    assert_same_state(state, before)
