"""The kernels of the classic market against a plain reference, and the contract of a market."""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.market.classic import ClassicMarket, ClassicState
from daedalus.market.draws import round_key, uniform
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.outcome import HISTORY_LENGTH, ROUND_FIELDS
from daedalus.market.seat_plan import BIDDER_KINDS, BidderGroup, SeatPlan
from daedalus.market.seeds import market_seeds
from daedalus.market.state import MarketState
from tests.market.reference_classic import ReferenceEpisode, draw
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


def arrays(state: MarketState) -> dict[str, np.ndarray]:
    return {f.name: getattr(state, f.name) for f in dataclasses.fields(state)}


def assert_same_state(left: MarketState, right: MarketState) -> None:
    for name, array in arrays(left).items():
        assert array.tobytes() == arrays(right)[name].tobytes(), name


def random_population(rng: np.random.Generator) -> SeatPlan:
    """Seat every kind at random, with parameters far from the published ones."""
    bidders = int(rng.integers(2, 13))
    seats = list(map(int, rng.permutation(bidders)))
    groups = {"truthful": BidderGroup()}
    for number, size in enumerate(rng.integers(1, 4, size=6)):
        kind = BIDDER_KINDS[1 + number % 4]
        size = 2 if kind == "colluder" else int(size)
        taken, seats = seats[:size], seats[size:]
        if len(taken) < size:
            break
        low, high = np.sort(rng.uniform(0, 1, 2))
        threshold = rng.uniform(0, 0.2)
        budget = float(rng.choice([0.0, 1.45, 1.5, 1.51, rng.uniform(0, 3)]))
        groups[f"{kind}_{number}"] = BidderGroup(kind, taken, low, high, threshold, budget)
    return SeatPlan(0, bidders, groups)


def play_reference(who: SeatPlan, seeds, phases) -> tuple[np.ndarray, list[ReferenceEpisode]]:
    """Play every episode through all (mechanisms, rounds) phases in the plain reference."""
    episodes = [ReferenceEpisode(who, seed) for seed in seeds]
    records = [
        [r for ms, rounds in phases for r in episode.play(ms[row], rounds)]
        for row, episode in enumerate(episodes)
    ]
    return np.array([[[r[f] for f in ROUND_FIELDS] for r in rows] for rows in records]), episodes


def assert_kernel_is_reference(who: SeatPlan, batch: int, rng: np.random.Generator) -> Counter:
    seeds = rng.integers(2**64, size=batch, dtype=np.uint64)
    warm_up = Mechanisms.repeat(Mechanism(), batch)
    phases = [(warm_up, 3)] + [(draw_mechanisms(batch, rng), 13) for _ in range(3)]
    expected, episodes = play_reference(who, seeds, phases)

    market = ClassicMarket(who)
    state = market.reset(seeds)
    records = [market.play(state, mechanisms, rounds).records for mechanisms, rounds in phases]
    assert_allclose(np.concatenate(records, axis=1), expected, rtol=0, atol=1e-12)
    assert_allclose(state.recent(), expected[:, -HISTORY_LENGTH:], rtol=0, atol=1e-12)
    for name in ("active", "turn", "wins", "bids", "values", "surplus", "budget"):
        attribute = name if name in ("active", "turn", "wins", "surplus", "budget") else name[:-1]
        theirs = [[getattr(bidder, attribute) for bidder in e.bidders] for e in episodes]
        assert_allclose(getattr(state, name), np.array(theirs), rtol=0, atol=1e-12, err_msg=name)
    return sum((Counter(episode.events) for episode in episodes), Counter())


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


def test_draws_are_those_of_plain_integers():
    rng = np.random.default_rng(0)
    seeds = [0, 1, 2**63, 2**64 - 1, *map(int, rng.integers(2**64, size=20, dtype=np.uint64))]
    for seed in seeds:
        round_number, seat, purpose = (int(rng.integers(high)) for high in (10**6, 64, 8))
        with np.errstate(over="ignore"):
            ours = uniform_of(np.uint64(seed), round_number, seat, purpose)
        assert ours == draw(seed, round_number, seat, purpose)


@numba.njit
def uniform_of(seed, round_number, seat, purpose):
    return uniform(round_key(seed, round_number), seat, purpose)


def test_draws_are_uniform_and_uncorrelated_across_bidders_and_rounds():
    market = ClassicMarket(SeatPlan(bidders=12))
    state = market.reset(market_seeds(5, "draws", 20_000))
    mechanisms = Mechanisms.repeat(Mechanism(), len(state))
    columns = []
    for _ in range(3):
        market.play(state, mechanisms, 1)
        columns.append((state.values - 0.3) / 0.6)
    draws = np.concatenate(columns, axis=1)
    assert draws.min() >= 0 and draws.max() < 1
    assert_allclose(draws.mean(axis=0), 0.5, atol=4.5 * 0.2887 / 20_000**0.5)
    assert_allclose(draws.var(axis=0), 1 / 12, atol=4.5 * 0.0745 / 20_000**0.5)
    correlations = np.corrcoef(draws.T) - np.eye(36)
    assert np.abs(correlations).max() < 4.5 / 20_000**0.5


def test_first_round_of_a_truthful_second_price_auction():
    seed = 7
    market = ClassicMarket(seat_plan(0))
    state = market.reset(np.array([seed], np.uint64))
    outcome = market.play(state, Mechanisms.repeat(Mechanism(), 1), 1)
    values = np.array([0.3 + 0.6 * draw(seed, 0, seat, 0) for seat in range(8)])
    ranked = np.sort(values)
    assert_allclose(state.values[0], values, atol=1e-15)
    assert_array_equal(state.bids, state.values)
    assert_array_equal(state.previous_bids, 0)
    assert state.wins[0].tolist() == [int(v == ranked[-1]) for v in values]
    assert outcome.field("clearing_price")[0, 0] == pytest.approx(ranked[-2], abs=1e-15)
    assert outcome.field("revenue")[0, 0] == outcome.field("clearing_price")[0, 0]
    assert outcome.welfare[0, 0] == outcome.participation[0, 0] == outcome.stability[0, 0] == 1
    assert outcome.field("gini")[0, 0] == pytest.approx(7 / 8)  # one winner among eight
    assert outcome.composite[0, 0] == pytest.approx(1 / 8)
    assert state.rounds[0] == 1
    assert np.isnan(state.history[0, 1:]).all()


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
        assert_allclose(state.budget[:, seat], 0.35, rtol=1e-15)


def test_a_fresh_episode_is_before_its_first_round():
    market = ClassicMarket(seat_plan(4))
    state = market.reset(np.arange(3, dtype=np.uint64))
    assert isinstance(state, ClassicState)
    assert len(state) == 3
    assert state.active.all()
    assert not state.rounds.any()
    assert not state.wins.any()
    assert np.isnan(state.history).all()
    assert_array_equal(state.budget, np.tile([2.0, 0, 0, 0, 0, 0, 0, 2.5], (3, 1)))
    assert_array_equal(np.flatnonzero(state.turn[0]), [5])


def test_no_rounds_change_nothing():
    market = ClassicMarket(seat_plan(4))
    state = market.reset(np.arange(4, dtype=np.uint64))
    before = copy.deepcopy(state)
    outcome = market.play(state, Mechanisms.repeat(Mechanism(), 4), 0)
    assert outcome.records.shape == (4, 0, len(ROUND_FIELDS))
    assert_same_state(state, before)


def test_an_empty_batch_plays():
    market = ClassicMarket(seat_plan(4))
    state = market.reset(np.zeros(0, np.uint64))
    empty = Mechanisms.repeat(Mechanism(), 0)
    assert market.play(state, empty, 5).records.shape == (0, 5, len(ROUND_FIELDS))


# ------------------------------------------------------------------ batches, threads and forks


def played(batch: int = 32, stage: int = 4, rounds: int = 30):
    """Return a market, its state after some rounds, the mixed mechanisms played, and records."""
    market = ClassicMarket(seat_plan(stage))
    mechanisms = draw_mechanisms(batch, np.random.default_rng(batch))
    state = market.reset(market_seeds(3, "played", batch))
    outcome = market.play(state, mechanisms, rounds)
    return market, state, mechanisms, outcome.records


@pytest.mark.parametrize("stage", STAGES)
def test_an_episode_is_the_same_alone_and_in_a_batch(stage):
    market, state, mechanisms, records = played(stage=stage)
    for row in (0, 13, 31):
        alone = market.reset(market_seeds(3, "played", 32)[row : row + 1])
        outcome = market.play(alone, mechanisms.take(np.array([row])), 30)
        assert outcome.records[0].tobytes() == records[row].tobytes()
        assert_same_state(alone, state.fork(np.array([row])))


def test_one_call_of_many_rounds_is_many_calls_of_one():
    market, state, mechanisms, records = played()
    again = market.reset(market_seeds(3, "played", 32))
    singly = [market.play(again, mechanisms, 1).records for _ in range(30)]
    assert np.concatenate(singly, axis=1).tobytes() == records.tobytes()
    assert_same_state(again, state)


def test_one_thread_gives_the_same_as_two():
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("numba has one thread here")
    before = numba.get_num_threads()
    results = []
    try:
        for threads in (1, 2):
            numba.set_num_threads(threads)
            results.append(played(batch=501))
    finally:
        numba.set_num_threads(before)
    (_, one_state, _, one_records), (_, two_state, _, two_records) = results
    assert one_records.tobytes() == two_records.tobytes()
    assert_same_state(one_state, two_state)


def test_a_fork_under_the_same_rules_goes_on_like_its_original():
    market, state, mechanisms, _ = played()
    fork = state.fork(np.arange(32))
    theirs = market.play(fork, mechanisms, 25).records
    ours = market.play(state, mechanisms, 25).records
    assert theirs.tobytes() == ours.tobytes()
    assert_same_state(fork, state)


def test_a_fork_shares_no_memory_with_its_original():
    market, state, mechanisms, _ = played()
    fork = state.fork(np.arange(32), np.arange(32, dtype=np.uint64))
    before = copy.deepcopy(state)
    for name, array in arrays(fork).items():
        assert not np.shares_memory(array, getattr(state, name)), name
    market.play(fork, mechanisms, 25)
    assert_same_state(state, before)
    assert not np.array_equal(fork.rounds, state.rounds)


def test_fork_seeds_are_copied():
    seeds = np.arange(4, dtype=np.uint64)
    _, state, _, _ = played(batch=4)
    fork = state.fork(np.arange(4), seeds)
    seeds[:] = 99
    assert_array_equal(fork.seeds, np.arange(4))


def test_rows_of_a_fork_may_repeat_and_keep_their_order():
    _, state, _, _ = played()
    rows = np.array([5, 0, 5])
    fork = state.fork(rows)
    for name, array in arrays(fork).items():
        assert_array_equal(array, getattr(state, name)[rows], err_msg=name)


def test_forks_on_one_seed_face_the_same_values_under_other_rules():
    market = ClassicMarket(seat_plan(0))
    state = market.reset(market_seeds(1, "fork", 1))
    market.play(state, Mechanisms.repeat(Mechanism(), 1), 3)
    mechanisms = [
        Mechanism(reserve_price=0.9, auction_type="first_price"),
        Mechanism(reserve_price=0.0),
        Mechanism(coalition_policy="restrict", collusion_penalty=3.0),
    ]
    fork = state.fork(np.zeros(3, np.int64), np.full(3, 11, np.uint64))
    for _ in range(10):
        market.play(fork, Mechanisms.stack(mechanisms), 1)
        assert_array_equal(fork.values[1], fork.values[0])
        assert_array_equal(fork.values[2], fork.values[0])


def test_forks_on_other_seeds_face_other_values():
    market, state, _, _ = played(batch=1, stage=0)
    fork = state.fork(np.zeros(3, np.int64), np.array([1, 2, 3], np.uint64))
    market.play(fork, Mechanisms.repeat(Mechanism(), 3), 1)
    assert len(np.unique(fork.values)) == fork.values.size


def test_fork_refuses_another_number_of_seeds():
    _, state, _, _ = played(batch=4)
    with pytest.raises(ValueError, match="seeds"):
        state.fork(np.arange(4), np.arange(3, dtype=np.uint64))


def test_put_is_the_inverse_of_fork():
    market, state, mechanisms, _ = played()
    expected = copy.deepcopy(state)
    rows = np.array([7, 2])
    moving = state.fork(rows)
    market.play(moving, mechanisms.take(rows), 4)
    state.put(rows, moving)
    assert_same_state(state.fork(rows), moving)
    others = np.setdiff1d(np.arange(32), rows)
    assert_same_state(state.fork(others), expected.fork(others))


# ------------------------------------------------------------------------------ invalid input


@pytest.mark.parametrize(
    ("mechanisms", "rounds", "match"),
    [(3, 5, "mechanisms"), (5, 5, "mechanisms"), (0, 5, "mechanisms"), (4, -1, "rounds")],
)
def test_wrong_sizes_raise_and_change_nothing(mechanisms, rounds, match):
    market, state, _, _ = played(batch=4)
    before = copy.deepcopy(state)
    with pytest.raises(ValueError, match=match):
        market.play(state, Mechanisms.repeat(Mechanism(), mechanisms), rounds)
    assert_same_state(state, before)


def test_a_state_of_other_rules_is_refused():
    market = ClassicMarket(seat_plan(0))
    foreign = MarketState(**MarketState.common(np.arange(2, dtype=np.uint64), 8))
    before = copy.deepcopy(foreign)
    with pytest.raises(ValueError, match="state"):
        market.play(foreign, Mechanisms.repeat(Mechanism(), 2), 1)
    assert_same_state(foreign, before)


def test_a_state_of_more_or_fewer_bidders_is_refused():
    small, large = ClassicMarket(seat_plan(0, 8)), ClassicMarket(seat_plan(0, 12))
    mechanisms = Mechanisms.repeat(Mechanism(), 2)
    # In this order: without a check the second call would write beyond the arrays of the state.
    for market, other in ((small, large), (large, small)):
        state = other.reset(np.arange(2, dtype=np.uint64))
        before = copy.deepcopy(state)
        with pytest.raises(ValueError, match="bidders"):
            market.play(state, mechanisms, 1)
        assert_same_state(state, before)


# ----------------------------------------------------------------------------- what comes out


def assert_metrics_in_range(records: np.ndarray, bidders: int) -> None:
    assert np.isfinite(records).all()
    for column, name in enumerate(ROUND_FIELDS):
        high = bidders if name == "dropouts" else 1
        assert records[..., column].min() >= 0, name
        assert records[..., column].max() <= high, name
    dropouts = records[..., ROUND_FIELDS.index("dropouts")]
    assert_array_equal(dropouts, np.round(dropouts))


@pytest.mark.parametrize("bidders", [8, 9, 10, 11, 12])
@pytest.mark.parametrize("stage", STAGES)
def test_metrics_stay_in_range(stage, bidders):
    market = ClassicMarket(seat_plan(stage, bidders))
    rng = np.random.default_rng([stage, bidders])
    state = market.reset(market_seeds(0, "range", 200))
    for _ in range(3):
        records = market.play(state, draw_mechanisms(200, rng), 20).records
        assert_metrics_in_range(records, bidders)
    assert_array_equal(state.recent(), records)


@pytest.mark.parametrize("reserve", [0.0, 0.9])
@pytest.mark.parametrize("kind", BIDDER_KINDS)
def test_two_bidders_are_enough(kind, reserve):
    seats = [0, 1] if kind == "colluder" else [1]
    group = BidderGroup(kind, seats, threshold=0.05, budget=1.0)
    market = ClassicMarket(SeatPlan(0, 2, {"truthful": BidderGroup(), "other": group}))
    state = market.reset(market_seeds(0, kind, 50))
    mechanisms = draw_mechanisms(50, np.random.default_rng(0))
    mechanisms.reserve_price[:] = reserve
    assert_metrics_in_range(market.play(state, mechanisms, 40).records, 2)


def test_signal_is_not_negative_when_one_bidder_always_wins():
    strong, weak = BidderGroup("truthful", [0], 0.8, 0.9), BidderGroup("truthful", [1], 0.1, 0.2)
    market = ClassicMarket(SeatPlan(0, 2, {"strong": strong, "weak": weak}))
    state = market.reset(market_seeds(0, "strong", 4))
    records = market.play(state, Mechanisms.repeat(Mechanism(reserve_price=0.0), 4), 100).records
    assert_array_equal(state.wins[:, 1], 0)
    assert_metrics_in_range(records, 2)


def test_wins_shared_evenly_are_no_signal_above_a_half():
    """Unlike bids and even wins give exactly 0.5, where rounding must not start the discount."""
    for bidders in (2, 3, 8, 10, 12):
        strong = BidderGroup("truthful", [0], 0.9, 1.0)
        weak = BidderGroup("truthful", list(range(1, bidders)), 0.0, 0.2)
        market = ClassicMarket(SeatPlan(0, bidders, {"strong": strong, "weak": weak}))
        state = market.reset(np.arange(60, dtype=np.uint64))
        state.wins += np.arange(1, 61)[:, None]
        state.wins[:, 0] -= 1  # the round to come evens it out
        outcome = market.play(state, Mechanisms.repeat(Mechanism(reserve_price=0.0), 60), 1)
        assert_array_equal(state.wins.min(axis=1), state.wins.max(axis=1))
        signal, fairness = outcome.field("collusion_signal"), outcome.fairness
        assert_allclose(signal, 0.5, rtol=0, atol=1e-12)
        assert signal.max() <= 0.5, bidders
        assert_allclose(outcome.composite, fairness, rtol=1e-12)  # W = P = S = 1


def test_nobody_left_is_a_market_without_sales():
    group = BidderGroup("dropout", [0, 1], 0.1, 0.2)
    market = ClassicMarket(SeatPlan(0, 2, {"leavers": group}))
    state = market.reset(np.arange(5, dtype=np.uint64))
    outcome = market.play(state, Mechanisms.repeat(Mechanism(reserve_price=0.9), 5), 10)
    assert not state.active.any()
    assert_array_equal(outcome.field("dropouts"), 2)
    assert_array_equal(outcome.participation[:, 0], 1)
    for name in ("welfare", "clearing_price", "revenue", "collusion_signal", "composite", "gini"):
        assert_array_equal(outcome.field(name), 0, err_msg=name)
    assert_array_equal(outcome.participation[:, 1:], 0)


def test_a_surplus_stays_until_the_next_win():
    market, state, mechanisms, _ = played(batch=64, rounds=5)
    for _ in range(20):
        surplus, wins = state.surplus.copy(), state.wins.copy()
        market.play(state, mechanisms, 1)
        kept = state.wins == wins
        assert kept.sum(axis=1).min() >= 7
        assert_array_equal(state.surplus[kept], surplus[kept])


@pytest.mark.parametrize("field", ["shill_penalty", "withdrawal_penalty"])
def test_fields_without_effect_have_none(field):
    market, state, mechanisms, _ = played()
    fork = state.fork(np.arange(32))
    changed = dataclasses.replace(mechanisms, **{field: 3 - getattr(mechanisms, field)})
    left, right = market.play(state, mechanisms, 20), market.play(fork, changed, 20)
    assert left.records.tobytes() == right.records.tobytes()


def test_vcg_is_second_price_for_one_unit():
    market, state, _, _ = played()
    mechanisms = [
        Mechanism(auction_type=name, reserve_price=0.2) for name in ("vcg", "second_price")
    ]
    left, right = (
        market.play(state.fork(np.arange(32)), Mechanisms.repeat(each, 32), 20)
        for each in mechanisms
    )
    assert left.records.tobytes() == right.records.tobytes()
