"""The classic kernels against a plain reference, alone and in batches."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.market.classic import ClassicMarket
from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.proxies import observe
from daedalus.market.seat_plan import BIDDER_KINDS, BidderGroup, SeatPlan
from daedalus.market.seeds import market_seeds
from daedalus.market.value_distribution import ValueDistribution
from tests.market.reference_classic import ReferenceEpisode, draw
from tests.market.states import assert_metrics_in_range, play_references
from tests.market.strategic_markets import random_values
from tests.populations import STAGES, draw_mechanisms, seat_plan

RARE_EVENTS = (
    "no sale",
    "shader sees cheap prices",
    "dropout leaves in disappointment",
    "dropout leaves for the reserve",
    "dropout returns",
    "exploiter is rich",
    "exploiter is poor",
    "exploiter pays",
    "exploiter leaves",
    "colluder competes",
    "colluder colludes",
    "ring is fined",
    "collusion discount",
)


def random_population(rng: np.random.Generator) -> SeatPlan:
    """Seat every kind at random, with parameters far from the published ones."""
    bidders = int(rng.integers(2, 13))
    seats = list(map(int, rng.permutation(bidders)))
    groups = {"truthful": BidderGroup()}
    (shapes,) = rng.spawn(1)
    for number, size in enumerate(rng.integers(1, 4, size=6)):
        kind = BIDDER_KINDS[1 + number % 4]
        size = 2 if kind == "colluder" else int(size)
        taken, seats = seats[:size], seats[size:]
        if len(taken) < size:
            break
        low, high = np.sort(rng.uniform(0, 1, 2))
        threshold = rng.uniform(0, 0.2)
        budget = float(rng.choice([0.0, 1.45, 1.5, 1.51, rng.uniform(0, 3)]))
        values = random_values(shapes)
        groups[f"{kind}_{number}"] = BidderGroup(kind, taken, low, high, threshold, budget, values)
    return SeatPlan(0, bidders, groups)


def assert_kernel_is_reference(who: SeatPlan, batch: int, rng: np.random.Generator) -> Counter:
    seeds = rng.integers(2**64, size=batch, dtype=np.uint64)
    warm_up = Mechanisms.repeat(Mechanism(), batch)
    phases = [(warm_up, 3)] + [(draw_mechanisms(batch, rng), 13) for _ in range(3)]
    episodes = [ReferenceEpisode(who, seed) for seed in seeds]
    expected = play_references(episodes, phases)

    market = ClassicMarket(who)
    state = market.reset(seeds)
    records = [market.play(state, mechanisms, rounds).records for mechanisms, rounds in phases]
    assert_allclose(np.concatenate(records, axis=1), expected, rtol=0, atol=1e-12)
    assert_allclose(
        observe(state).history.rounds(), expected[:, -HISTORY_LENGTH:], rtol=0, atol=1e-12
    )
    ours = {name: state.bidders[name] for name in ("turn", "value", "surplus", "budget")}
    ours |= {"active": state.active, "wins": state.wins, "bid": state.bids}
    for name in ours:
        theirs = [[getattr(bidder, name) for bidder in e.bidders] for e in episodes]
        assert_allclose(ours[name], np.array(theirs), rtol=0, atol=1e-12, err_msg=name)
    return sum((Counter(episode.events) for episode in episodes), Counter())


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_kernel_follows_the_rules_at_every_stage(stage):
    assert_kernel_is_reference(seat_plan(stage), 60, np.random.default_rng(stage))


def test_kernel_follows_the_rules_for_any_population():
    rng = np.random.default_rng(99)
    events = Counter()
    for _ in range(80):
        events += assert_kernel_is_reference(random_population(rng), 3, rng)
    for event in RARE_EVENTS:
        assert events[event] > 0, f"the comparison never met: {event}"


def test_first_round_of_a_truthful_second_price_auction():
    seed = 7
    market = ClassicMarket(seat_plan(0))
    state = market.reset(np.array([seed], np.uint64))
    outcome = market.play(state, Mechanisms.repeat(Mechanism(), 1), 1)
    values = np.array([0.3 + 0.6 * draw(seed, 0, seat, 0) for seat in range(8)])
    ranked = np.sort(values)
    assert_allclose(state.bidders["value"][0], values, atol=1e-15)
    assert_array_equal(state.bids, state.bidders["value"])
    assert_array_equal(state.previous_bids, 0)
    assert state.wins[0].tolist() == [int(v == ranked[-1]) for v in values]
    assert outcome.field("clearing_price")[0, 0] == pytest.approx(ranked[-2], abs=1e-15)
    assert outcome.field("revenue")[0, 0] == outcome.field("clearing_price")[0, 0]
    for name in ("welfare", "participation", "stability"):
        assert outcome.field(name)[0, 0] == 1
    assert outcome.field("gini")[0, 0] == pytest.approx(7 / 8)  # one winner among eight
    assert outcome.field("composite")[0, 0] == pytest.approx(1 / 8)
    assert state.rounds[0] == 1
    assert np.isnan(state.history.rounds()[0, :-1]).all()


def test_a_tie_goes_to_the_lower_seat():
    """Exploiters worth far more than they can pay all bid 0.3 of their equal budgets."""
    spenders = BidderGroup("exploiter", [0, 1, 2], 0.8, 0.9, budget=0.5)
    market = ClassicMarket(SeatPlan(0, 3, {"spenders": spenders}))
    state = market.reset(np.arange(3, dtype=np.uint64))
    mechanisms = Mechanisms.repeat(Mechanism(auction_type="first_price"), 3)
    for seat in range(3):  # who has won has less to bid in the next round
        prices = market.play(state, mechanisms, 1).field("clearing_price")
        assert_allclose(prices, 0.15, rtol=1e-15)
        assert_array_equal(state.wins, np.tile(np.arange(3) <= seat, (3, 1)))
        assert_allclose(state.bidders["budget"][:, seat], 0.35, rtol=1e-15)


@pytest.mark.parametrize("bidders", [8, 11])
@pytest.mark.parametrize("stage", STAGES)
def test_metrics_stay_in_range(stage, bidders):
    market = ClassicMarket(seat_plan(stage, bidders))
    rng = np.random.default_rng([stage, bidders])
    state = market.reset(market_seeds(0, "range", 200))
    for _ in range(3):
        records = market.play(state, draw_mechanisms(200, rng), 20).records
        assert_metrics_in_range(records, market.population)
    assert_array_equal(observe(state).history.rounds(), records)


def test_a_sale_to_a_value_of_0_records_numbers() -> None:
    nothing = ValueDistribution("quantiles", quantiles=[0.0, 0.0, 1.0])
    market = ClassicMarket(SeatPlan(0, 2, {"all": BidderGroup(value_low=0.0, values=nothing)}))
    state = market.reset(np.arange(20, dtype=np.uint64))
    outcome = market.play(state, Mechanisms.repeat(Mechanism(reserve_price=0.0), 20), 1)
    worthless = state.bidders["value"].max(axis=1) == 0.0
    assert worthless.any() and not worthless.all()
    assert_array_equal(outcome.field("revenue_share")[worthless], 0.0)
    assert np.isfinite(outcome.records).all()


def test_nobody_left_is_a_market_without_sales():
    group = BidderGroup("dropout", [0, 1], 0.1, 0.2)
    market = ClassicMarket(SeatPlan(0, 2, {"leavers": group}))
    state = market.reset(np.arange(5, dtype=np.uint64))
    outcome = market.play(state, Mechanisms.repeat(Mechanism(reserve_price=0.9), 5), 10)
    assert not state.active.any()
    assert_array_equal(outcome.field("dropouts"), 2)
    assert_array_equal(outcome.field("participation")[:, 0], 1)
    for name in ("welfare", "clearing_price", "revenue", "collusion_signal", "composite", "gini"):
        assert_array_equal(outcome.field(name), 0, err_msg=name)
    assert_array_equal(outcome.field("participation")[:, 1:], 0)
