"""Bidders of the strategy method play as those whose bids they state."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.design.language_bidders.asking import Chat
from daedalus.design.language_bidders.player import StrategyPlayer
from daedalus.design.language_bidders.questions import AGAIN, Questions
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.population import BidderType, Population
from daedalus.market.python_bidders import PlayedMarket
from daedalus.market.seeds import market_seeds
from daedalus.market.strategic import StrategicMarket
from daedalus.market.views import View
from tests.design.language_bidders.scripted import ALIKE, THREE, equilibrium, past, scripted, view

SETTINGS = MarketSettings(rounds_per_step=5, warmup_rounds=0)
SEEDS = market_seeds(0, "strategy", 8)


@pytest.mark.parametrize(
    ("kind", "units"),
    [("first_price", 1), ("second_price", 1), ("second_price", 2), ("vcg", 1), ("vcg", 2)],
)
def test_equilibrium_by_the_strategy_method_earns_the_fast_market_s_numbers(
    kind: str, units: int
) -> None:
    """Equilibria without a reserve are linear for one unit, so that interpolation is exact."""
    who = Population(bidders=3, units=units, types={"bidder": ALIKE})
    player = scripted(equilibrium, SETTINGS)
    rules = Mechanisms.repeat(Mechanism(kind, 0.0, reveal_reserve=True), len(SEEDS))  # type: ignore[arg-type]
    records = []
    for market in (PlayedMarket(who, {"bidder": player}), StrategicMarket(who)):
        state = market.reset(SEEDS)
        records.append(market.play(state, rules, 30).records)
    assert_allclose(*records, rtol=0, atol=1e-9)


def by_the_past(question: str, values: list[float]) -> list[float]:
    """Bid shares that any change of the question changes."""
    share = sum(map(ord, question)) % 997 / 997
    return [share * each for each in values]


def test_forks_in_the_middle_of_a_step_go_on_as_their_original() -> None:
    rules = Mechanisms.repeat(Mechanism("first_price", 0.1, reveal_competing_bids=True), len(SEEDS))
    market = PlayedMarket(THREE, {"bidder": scripted(by_the_past, SETTINGS)})
    state = market.reset(SEEDS)
    market.play(state, rules, 23)
    fork = state.fork(np.arange(len(SEEDS)))
    expected = market.play(state, rules, 14).records
    fresh = PlayedMarket(THREE, {"bidder": scripted(by_the_past, SETTINGS)})
    assert_array_equal(fresh.play(fork, rules, 14).records, expected)
    assert np.ptp(expected) > 0


def test_all_seats_are_asked_at_once_and_once_a_step() -> None:
    asked: list[int] = []

    def ask(chats: Sequence[Chat]) -> list[str]:
        asked.append(len(chats))
        return ["[10, 20, 30, 40, 50]"] * len(chats)

    player = StrategyPlayer(ask, Questions.of(SETTINGS, 5, ""))
    market = PlayedMarket(THREE, {"bidder": player})
    state = market.reset(SEEDS)
    market.play(state, Mechanisms.repeat(Mechanism(), len(SEEDS)), 10)
    assert asked == [1, 3 * len(SEEDS)]  # in the first step all know the same


def test_bids_between_the_five_values_lie_on_straight_lines() -> None:
    player = scripted(lambda _, values: [0, 30, 20, 20, 90], SETTINGS)
    for value, bid in {0.0: 0.0, 0.1: 0.0, 0.3: 0.15, 0.5: 0.25, 0.7: 0.2, 0.9: 0.55}.items():
        assert player.bid(view(values=(value,))) == pytest.approx([bid])
    steep = scripted(lambda _, values: [50, 60, 60, 60, 60], SETTINGS)
    assert steep.bid(view(values=(0.1,))) == pytest.approx([0.25])  # a value of 0 bids 0


def test_the_higher_of_two_bids_comes_first() -> None:
    falling = scripted(lambda _, values: [100 - each for each in values], SETTINGS)
    assert falling.bid(view(values=(0.8, 0.4), units=2)) == pytest.approx([0.6, 0.2])
    types = {"two": BidderType(), "rivals": BidderType()}
    market = PlayedMarket(Population(units=3, types=types), {"two": falling})
    market.play(market.reset(SEEDS), Mechanisms.repeat(Mechanism(), len(SEEDS)), 3)


def test_what_cannot_be_read_is_asked_once_more_and_then_stays_out() -> None:
    said = {"a": ["nothing", "[10, 20, 30, 40, 50]"], "b": ["nothing", "nothing"]}
    said |= {"c": ["[-1, 20, 30, 40, 500]"]}
    chats: list[Chat] = []

    def ask(given: Sequence[Chat]) -> list[str]:
        chats.extend(given)
        names = [_name_in(chat[1]["content"]) for chat in given]
        return [said[name].pop(0) for name in names]

    player = StrategyPlayer(ask, Questions.of(SETTINGS, 5, ""))
    views = [_from(name) for name in said]
    player.prepare(views)
    assert_allclose([player.bid(each)[0] for each in views], [0.25, 0.0, 0.25])
    assert vars(player.read) == {"repeated": 2, "unreadable": 1, "clipped": 2}
    assert chats[3][:2] == chats[0]
    assert [each["content"] for each in chats[3][2:]] == ["nothing", AGAIN]
    assert len(chats) == 5


VALUES = {"a": 0.11, "b": 0.22, "c": 0.33}


def _from(name: str) -> View:
    """Return a view whose question can be told from others."""
    return view(round=5, past=(past(value=VALUES[name]),))


def _name_in(question: str) -> str:
    return next(name for name, value in VALUES.items() if f"value {100 * value:.0f}," in question)
