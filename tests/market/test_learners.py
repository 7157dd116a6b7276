"""Bidders who learn by Hedge and by Q-learning, and what they may know, against a reference."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.market.mechanism import AUCTION_TYPES, Mechanism
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import LEARNERS, BidderType, Population
from daedalus.market.strategic import StrategicMarket, StrategicState
from tests.market.compare_strategic import assert_kernel_is_reference
from tests.market.states import assert_refused, play
from tests.market.strategic_markets import by_hedge_and_q, fresh, mixed, random_population, telling

HEDGE = BidderType(menu=["shade"], demand=1, learner="hedge")
Q_LEARNER = BidderType(menu=["shade"], demand=1, learner="q", learning_rate=0.02)
FACTORS = np.linspace(1.0, 0.3, 8)
EARNED = {
    "first_price": (1 - FACTORS) * FACTORS**2 / 4,
    "second_price": (FACTORS**2 - 2 * FACTORS**3 / 3) / 4,
}
"""What each factor earns on average, by hand: values and two truthful rivals' are U[0, 1], and
E[(1 - f) v (f v)^2], E[∫ (v - x) 2x dx from 0 to f v] with E[v^3] = 1/4."""
RARE_EVENTS = (
    "exploration",
    "Q-learner stays out",
    "a lost bid tells that lower ones lose",
    "Q-learner does as its ring does",
)
SHOWN = {"reveal_competing_bids": True}


# ------------------------------------------------------------------------- kernel and reference


def learning_anyhow(who: Population, rng: np.random.Generator) -> Population:
    """Return a population whose types learn in ways drawn at random, with drawn constants."""
    types = {name: by_any_learner(each, rng) for name, each in who.types.items()}
    return dataclasses.replace(who, types=types)


def by_any_learner(each: BidderType, rng: np.random.Generator) -> BidderType:
    return dataclasses.replace(
        each,
        menu=sorted({*each.menu, "shade"}),
        learner=str(rng.choice(LEARNERS)),
        factors=int(rng.integers(2, 12)),
        lowest_factor=float(rng.choice([0.0, 0.3, 0.9])),
        hedge_rate=float(rng.choice([1.0, 10.0, 100.0])),
        hedge_share=float(rng.choice([0.0, 0.01, 1.0])),
        highest_factor=float(rng.choice([0.95, 1.0])),
        exploration=float(rng.choice([0.0, 0.1, 1.0])),
        exploration_decay=float(rng.choice([0.0, 0.02])),
        recalls_win=bool(rng.random() < 0.5),
        discount=float(rng.choice([0.0, 0.5, 0.95])),
    )


@pytest.mark.slow
def test_kernel_follows_the_rules_for_learners_in_any_population():
    rng = np.random.default_rng(8)
    drawn = [learning_anyhow(random_population(rng), rng) for _ in range(25)]
    counts = [assert_kernel_is_reference(who, 3, rng) for who in [by_hedge_and_q(), *drawn]]
    for event in RARE_EVENTS:
        assert sum(each[event] for each in counts) > 5, f"the comparison hardly met: {event}"


def test_tables_take_no_room_where_nobody_needs_them():
    _, plain = fresh(mixed("shader", "colluder"), 3)
    assert plain.tables.shape == (3, 10, 0)
    _, hedging = fresh(Population(types={"a": HEDGE, "b": BidderType()}), 3)
    assert hedging.tables.shape == (3, 8, 8)
    assert_allclose(hedging.tables.sum(axis=2), np.tile([1.0] * 4 + [0.0] * 4, (3, 1)))
    _, valuing = fresh(Population(types={"a": Q_LEARNER}), 3)
    assert valuing.tables.shape == (3, 8, 2 * 9)
    assert_array_equal(valuing.tables[0, 0].reshape(2, 9), [[0.1] * 8 + [0.05]] * 2)


@pytest.mark.parametrize("others", [HEDGE, Q_LEARNER, BidderType(menu=["shade"])])
def test_a_state_with_other_tables_is_refused(others):
    market, _ = fresh(Population(types={"a": dataclasses.replace(HEDGE, factors=5)}), 2)
    _, state = fresh(Population(types={"a": others}), 2)
    assert_refused(market, state, 2, 1, "state: it has other bidder types")


# ------------------------------------------------------------------------------ what they learn


def against_fixed_rivals(
    learner: BidderType, episodes: int = 100, **constants: float
) -> tuple[StrategicMarket, StrategicState]:
    """Return markets for one unit in which a learner faces two who bid their values."""
    rivals = BidderType(share=2.0, demand=1)
    who = Population(bidders=3, types={"learner": learner, "rival": rivals}, units=1)
    return fresh(who, episodes, StrategicParameters(shock_rate=0.0, **constants))


def play_on(market, state, auction_type: str, rounds: int) -> None:
    mechanism = Mechanism(auction_type=auction_type, reserve_price=0.0, **SHOWN)
    play(market, state, mechanism, rounds)


def hedge_regret(state: StrategicState, auction_type: str) -> float:
    """Return what mixing by the weights forgoes in a round, over what the best factor earns."""
    earned = EARNED[auction_type]
    return float(1 - (state.tables[:, 0] @ earned).mean() / earned.max())


def greedy_regret(state: StrategicState, auction_type: str) -> float:
    """Return what a Q-learner's best actions forgo in a round, over what the best factor earns."""
    earned = EARNED[auction_type]
    actions = state.tables[:, 0].reshape(-1, 2, 9)[:, :, :8].argmax(axis=2)
    return float(1 - earned[actions].mean() / earned.max())


@pytest.mark.parametrize(("auction_type", "bound"), [("first_price", 0.07), ("second_price", 0.02)])
def test_the_regret_of_hedge_vanishes(auction_type, bound):
    market, state = against_fixed_rivals(dataclasses.replace(HEDGE, hedge_share=1e-4))
    regrets = [hedge_regret(state, auction_type)]
    for rounds in (10, 40, 200):
        play_on(market, state, auction_type, rounds)
        regrets.append(hedge_regret(state, auction_type))
    assert sorted(regrets, reverse=True) == regrets
    assert regrets[0] > 0.3 and regrets[-1] < bound


@pytest.mark.parametrize(("auction_type", "bound"), [("first_price", 0.25), ("second_price", 0.10)])
def test_a_q_learner_comes_to_bid_well(auction_type, bound):
    market, state = against_fixed_rivals(Q_LEARNER)
    play_on(market, state, auction_type, 4000)
    assert greedy_regret(state, auction_type) < bound


@pytest.mark.parametrize("first", ["first_price", "second_price"])
def test_hedge_answers_a_change_of_format(first):
    second = {"first_price": "second_price", "second_price": "first_price"}[first]
    market, state = against_fixed_rivals(HEDGE)
    play_on(market, state, first, 50)
    before = hedge_regret(state, second)
    play_on(market, state, second, 50)
    assert hedge_regret(state, second) < 0.5 * before


def test_a_q_learner_answers_a_change_of_format():
    market, state = against_fixed_rivals(dataclasses.replace(Q_LEARNER, learning_rate=0.1))
    play_on(market, state, "second_price", 400)
    before = greedy_regret(state, "first_price")
    play_on(market, state, "first_price", 400)
    assert greedy_regret(state, "first_price") < 0.7 * before


def test_a_q_learner_comes_where_it_pays_and_stays_away_where_it_does_not():
    menu = ["opt_out", "shade"]
    learner = dataclasses.replace(Q_LEARNER, menu=menu, learning_rate=0.1, exploration=0.0)
    came = []
    for cost in (0.0, 0.3):
        market, state = against_fixed_rivals(learner, 200, entry_cost=cost)
        play_on(market, state, "second_price", 150)
        seen = []
        for _ in range(20):
            play_on(market, state, "second_price", 1)
            seen.append(state.active[:, 0])
        came.append(np.mean(seen))
    assert came[0] > 0.5 and came[1] < 0.1


# ---------------------------------------------------------------------- what they are told


@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
def test_the_price_tells_hedge_in_first_price_and_winners_elsewhere(auction_type):
    market, state = fresh(Population(types={"a": HEDGE}), 100, StrategicParameters(shock_rate=0.0))
    before = state.tables.copy()
    play(market, state, telling(auction_type=auction_type, reveal_clearing_price=True), 1)
    moved = (state.tables != before).any(axis=2)
    if auction_type == "first_price":
        assert moved[state.wins > 0].mean() > 0.7 and moved[state.wins == 0].mean() > 0.2
    else:
        assert not moved[state.wins == 0].any() and moved[state.wins > 0].mean() > 0.5


def test_a_lost_bid_tells_hedge_of_a_secret_reserve():
    """With no rival above a reserve that it does not know, it must not go on bidding less."""
    types = {
        "learner": dataclasses.replace(HEDGE, value_low=0.9),
        "weak": BidderType(value_high=0.1),
    }
    market, state = fresh(Population(bidders=2, types=types, units=1), 100)
    play(market, state, telling(auction_type="first_price", reserve_price=0.6, **SHOWN), 60)
    wins = state.tables[:, 0, FACTORS * 0.9 >= 0.6].sum(axis=1)
    assert wins.mean() > 0.8


def test_a_q_learner_heeds_its_own_payoffs_alone():
    costs = {
        f.name: 0.0 for f in dataclasses.fields(StrategicParameters) if f.name.endswith("_cost")
    }
    market, state = fresh(mixed("shader", learner="q"), 30, StrategicParameters(**costs))
    flags = [name for name in Mechanism().__dict__ if name.startswith("reveal")]
    seen = []
    for told in (False, True):
        fork = state.fork(np.arange(30))
        play(market, fork, Mechanism(auction_type="first_price", **dict.fromkeys(flags, told)), 40)
        seen.append(fork.tables)
    assert_array_equal(*seen)
