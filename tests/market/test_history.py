"""The last rounds of a batch, which observations share."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from daedalus.design.env import DesignEnv
from daedalus.market.history import HISTORY_LENGTH, History
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import ROUND_FIELDS
from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan
from daedalus.market.seeds import market_seeds
from tests.market.states import seen
from tests.populations import draw_mechanisms, population, seat_plan

MARKETS = (("classic", seat_plan(4)), ("strategic", population(4)))


def rounds(count: int, seed: int = 0, batch: int = 3) -> np.ndarray:
    return np.random.default_rng(seed).uniform(size=(batch, count, len(ROUND_FIELDS)))


@pytest.mark.parametrize("counts", [[1] * 30, [3, 5, 5, 5, 5, 5], [20], [50], [7, 0, 19], [2, 30]])
def test_it_holds_the_last_twenty_rounds(counts: list[int]) -> None:
    played, history = rounds(sum(counts)), History.unplayed(3)
    for part in np.split(played, np.cumsum(counts)[:-1], axis=1):
        history = history.then(part)
    assert_array_equal(history.rounds(), played[:, -HISTORY_LENGTH:])
    assert history.nbytes == history.rounds().nbytes
    for column, name in enumerate(ROUND_FIELDS):
        assert_array_equal(history.field(name), history.rounds()[:, :, column])


def test_rounds_that_were_not_played_are_nan() -> None:
    history = History.unplayed(3).then(rounds(4))
    assert np.isnan(history.rounds()[:, :-4]).all()
    assert_array_equal(history.rounds()[:, -4:], rounds(4))


def test_rows_are_taken_and_replaced() -> None:
    one, other = History.unplayed(3).then(rounds(4)), History.unplayed(2).then(rounds(9, 1, 2))
    assert_array_equal(one.take(np.array([2, 0, 2])).rounds(), one.rounds()[[2, 0, 2]])
    both = one.replace(np.array([2, 0]), other)
    assert_array_equal(both.rounds()[[2, 0]], other.rounds())
    assert_array_equal(both.rounds()[1], one.rounds()[1])
    assert_array_equal(one.rounds()[:, -4:], rounds(4))


@pytest.mark.parametrize(("market", "who"), MARKETS)
def test_an_observation_stays_when_the_market_plays_on(
    market: str, who: SeatPlan | Population
) -> None:
    env, rng = DesignEnv.of(MarketSettings(name=market), who), np.random.default_rng(0)
    episodes = env.reset(market_seeds(0, "stays", 20))
    observation = episodes.observe()
    for _ in range(4):
        before = seen(observation)
        episodes.step(draw_mechanisms(20, rng).replace(np.array([7]), Mechanisms.stack([None])))
        later = episodes.observe()
        episodes.put(np.arange(5), episodes.fork(np.arange(5, 10)))
        assert seen(observation) == before != seen(later)
        observation = later


def test_a_classic_outcome_cannot_be_changed_because_observations_share_it() -> None:
    env = DesignEnv.of(MarketSettings(name="classic"), seat_plan(4))
    episodes = env.reset(market_seeds(0, "shared", 2))
    outcome = episodes.step(draw_mechanisms(2, np.random.default_rng(0))).outcome
    with pytest.raises(ValueError, match="read-only"):
        outcome.records[0, 0, 0] = 0.5


@pytest.mark.parametrize("played", [1, 2, 19, 20, 45])
@pytest.mark.parametrize(("market", "who"), MARKETS)
def test_the_trend_is_that_of_the_prices_in_the_history(
    market: str, who: SeatPlan | Population, played: int
) -> None:
    env = DesignEnv.of(MarketSettings(name=market, warmup_rounds=played), who)
    observation = env.reset(market_seeds(0, "trend", 5)).observe()
    prices = observation.field("clearing_price")[:, -played:]
    slopes = [np.polyfit(np.arange(len(row)), row, 1)[0] if played > 1 else 0.0 for row in prices]
    np.testing.assert_allclose(observation.proxy("clearing_price_trend"), slopes, atol=1e-12)
