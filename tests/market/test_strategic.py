"""The kernels of the strategic market against a plain reference, and what its bidders know."""

from __future__ import annotations

import copy
import dataclasses
from collections import Counter

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.env import DesignEnv
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import AUCTION_TYPES, Mechanism, Mechanisms
from daedalus.market.outcome import HISTORY_LENGTH, ROUND_FIELDS
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import STRATEGIES, BidderType, Population
from daedalus.market.seeds import market_seeds
from daedalus.market.state import MarketState
from daedalus.market.strategic import StrategicMarket, StrategicState
from tests.market.reference_classic import draw
from tests.market.reference_strategic import ReferenceEpisode
from tests.populations import draw_mechanisms

TYPES = {
    "truthful": BidderType(),
    "shader": BidderType(menu=["opt_out", "shade"]),
    "dropout": BidderType(menu=["opt_out", "shade", "withdraw"], outside_option=0.15),
    "colluder": BidderType(menu=["opt_out", "shade", "collude"]),
    "exploiter": BidderType(menu=["opt_out", "shade", "shill"], budget=10.0),
    "discreet": BidderType(
        menu=["opt_out", "shade", "collude"], value_low=0.5, demand=1, discretion=0.8
    ),
    "weak": BidderType(
        menu=["opt_out", "shade", "collude"], value_low=0.4, demand=1, efficient_ring=False
    ),
}
COMMON = ("truthful", "shader", "dropout", "colluder", "exploiter")
LEARNED = ("rivals_seen", "rivals_distance", "reduction_gain")
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


def mixed(*names: str, bidders: int = 10, units: int = 3, **changes) -> Population:
    """Return a population of equal shares of the named types."""
    types = {name: dataclasses.replace(TYPES[name], **changes) for name in names}
    return Population(bidders=bidders, units=units, types=types)


def random_type(rng: np.random.Generator, ceiling: float) -> BidderType:
    low, high = np.sort(rng.uniform(0, ceiling, 2))
    budget = rng.choice([None, 0.0, 0.3, float(rng.uniform(0, 5))])
    # Drawn apart. In one of 1,500 other populations a budget ran down to exactly the reserve, where
    # the order in which payments are summed decides whether what is left of it competes.
    (spreads,) = rng.spawn(1)
    return BidderType(
        share=float(rng.uniform(0.1, 1)),
        menu=[each for each in STRATEGIES if rng.random() < 0.5],
        value_low=float(low),
        value_high=float(high),
        demand=int(rng.integers(1, 3)),
        outside_option=float(rng.choice([0.0, 0.15, 0.6])),
        budget=budget,
        expected_surplus=float(rng.choice([0.0, 0.05, 0.2])),
        rivals=float(rng.choice([0.01, 1.0, 10.0, 100.0])),
        learning_rate=float(rng.choice([0.01, 0.2, 1.0])),
        rate_spread=float(spreads.choice([1.0, 4.0, 100.0])),
        rivals_spread=float(spreads.choice([1.0, 4.0, 100.0])),
        efficient_ring=bool(rng.random() < 0.5),
        discretion=float(rng.choice([0.0, 0.5, 1.0])),
    )


def random_population(rng: np.random.Generator) -> Population:
    ceiling = float(rng.choice([1.0, 1.0, 0.03]))
    types = {f"type_{number}": random_type(rng, ceiling) for number in range(rng.integers(1, 5))}
    return Population(
        bidders=int(rng.integers(2, 13)),
        types=types,
        units=int(rng.integers(1, 6)),
        concentration=rng.choice([None, 1.0, 20.0]),
    )


def random_parameters(rng: np.random.Generator) -> StrategicParameters:
    """Draw every constant around its default; those below 1 stay there."""
    drawn = {}
    for name, value in dataclasses.asdict(StrategicParameters()).items():
        other = value * rng.uniform(0.2, 4)
        drawn[name] = min(other, 0.97) if value < 1 else other
    return StrategicParameters(**drawn)


def fresh(who: Population, batch: int, parameters: StrategicParameters | None = None):
    market = StrategicMarket(who, parameters)
    return market, market.reset(market_seeds(3, "strategic", batch))


def arrays(state: MarketState) -> dict[str, np.ndarray]:
    return {f.name: getattr(state, f.name) for f in dataclasses.fields(state)}


def assert_same_state(left: MarketState, right: MarketState) -> None:
    for name, array in arrays(left).items():
        assert array.tobytes() == arrays(right)[name].tobytes(), name


def play_reference(who, parameters, kinds, seeds, phases):
    """Play every episode through all (mechanisms, rounds) phases in the plain reference."""
    types = list(who.types.values())
    episodes = []
    for kind, seed in zip(kinds, seeds, strict=True):
        episodes.append(ReferenceEpisode([types[k] for k in kind], who.units, parameters, seed))
        episodes[-1].form_rings(types)
    records = [
        [r for ms, rounds in phases for r in episode.play(ms[row], rounds)]
        for row, episode in enumerate(episodes)
    ]
    return table(records), episodes


def table(records: list[list[dict[str, float]]]) -> np.ndarray:
    return np.array([[[r[f] for f in ROUND_FIELDS] for r in rows] for rows in records])


def assert_kernel_is_reference(
    who: Population, batch: int, rng: np.random.Generator, parameters=None
) -> Counter:
    parameters = parameters or StrategicParameters()
    seeds = rng.integers(2**64, size=batch, dtype=np.uint64)
    phases = [(Mechanisms.repeat(Mechanism(), batch), 3)]
    phases += [(draw_mechanisms(batch, rng), 9) for _ in range(3)]

    market = StrategicMarket(who, parameters)
    state = market.reset(seeds)
    kinds = state.bidders["kind"]
    records = [market.play(state, mechanisms, rounds).records for mechanisms, rounds in phases]

    expected, episodes = play_reference(who, parameters, kinds, seeds, phases)
    assert_near(np.concatenate(records, axis=1), expected, "records")
    accounts = table([episode.accounts for episode in episodes])
    assert_near(state.recent(), accounts[:, -HISTORY_LENGTH:], "history")
    for name in state.bidders.dtype.names[1:]:
        theirs = [[getattr(b, name) for b in e.bidders] for e in episodes]
        assert_near(state.bidders[name], theirs, name)
    longest = state.tables.shape[2]
    tables = [[b.table + [0.0] * (longest - len(b.table)) for b in e.bidders] for e in episodes]
    assert_near(state.tables, tables, "tables")
    for name in state.rings.dtype.names:
        theirs = [[getattr(ring, name) for ring in e.rings] for e in episodes]
        if any(episode.rings for episode in episodes):
            assert_near(state.rings[name], theirs, name)
    bids = np.array([[pair[0] for pair in e.bids] for e in episodes])
    assert_near(state.bids, bids, "bids")
    assert_array_equal(state.active, bids > 0)
    before = [[pair[0] for pair in e.bids_before] for e in episodes]
    assert_near(state.previous_bids, before, "previous_bids")
    assert_near(state.alias_bids, [[b.alias for b in e.bidders] for e in episodes], "aliases")
    assert_array_equal(state.wins, [[b.wins for b in e.bidders] for e in episodes])
    assert_near(state.expected_price, [e.price_expected for e in episodes], "expected_price")
    sightings = np.array([e.sightings for e in episodes])
    assert_near(state.sightings, sightings, "sightings", atol=1e-7)  # roots of rounding errors
    return sum((Counter(episode.events) for episode in episodes), Counter())


def assert_near(ours, theirs, name: str, atol: float = 1e-9) -> None:
    assert_allclose(ours, np.array(theirs, np.float64), rtol=0, atol=atol, err_msg=name)


@pytest.mark.parametrize("names", [(name,) for name in TYPES] + [COMMON])
def test_kernel_follows_the_rules_for_every_shipped_type(names):
    assert_kernel_is_reference(mixed(*names), 8, np.random.default_rng(len(names[0])))


def test_kernel_follows_the_rules_where_bids_lack():
    who = mixed("dropout", bidders=2, units=5, demand=1)
    assert_kernel_is_reference(who, 20, np.random.default_rng(0))


def compare_random_populations(count: int, seed: int) -> Counter:
    rng, events = np.random.default_rng(seed), Counter()
    for number in range(count):
        parameters = random_parameters(rng) if number % 2 else None
        events += assert_kernel_is_reference(random_population(rng), 3, rng, parameters)
    return events


def test_kernel_follows_the_rules_for_any_population():
    events = compare_random_populations(100, 99)
    for event in RARE_EVENTS:
        assert events[event] > 5, f"the comparison hardly met: {event}"


@pytest.mark.slow
def test_kernel_follows_the_rules_for_many_populations():
    compare_random_populations(1500, 5)


def test_first_round_of_truthful_bidders_by_hand():
    seed = 7
    market = StrategicMarket(Population(), StrategicParameters(shock_rate=0.0))
    state = market.reset(np.array([seed], np.uint64))
    outcome = market.play(state, Mechanisms.repeat(Mechanism(), 1), 1)
    values = np.array([[draw(seed, 0, seat, unit) for unit in (0, 1)] for seat in range(8)])
    ranked = np.sort(values.ravel())[::-1]
    price, won = ranked[3], (values >= ranked[2]).sum(axis=1)
    assert_allclose(state.bids[0], values.max(axis=1), atol=1e-15)
    assert_array_equal(state.wins[0], won)
    assert outcome.field("clearing_price")[0, 0] == pytest.approx(price, abs=1e-15)
    assert outcome.field("revenue")[0, 0] == pytest.approx(3 * price, abs=1e-15)
    assert outcome.field("revenue_share")[0, 0] == pytest.approx(3 * price / ranked[:3].sum())
    assert outcome.welfare[0, 0] == outcome.participation[0, 0] == outcome.stability[0, 0] == 1
    surplus = np.where(values >= ranked[2], values - price, 0).sum(axis=1)
    assert_allclose(state.bidders["surplus"][0], surplus, atol=1e-15)
    assert_allclose(state.bidders["spent"][0], won * price, atol=1e-15)
    gaps = np.abs(surplus[:, None] - surplus).sum() / (2 * 7 * surplus.sum())
    assert outcome.fairness[0, 0] == pytest.approx(1 - gaps)


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


def test_a_fresh_episode_is_before_its_first_round():
    parameters = StrategicParameters(ring_prior=0.5, shill_prior=0.25)
    _, state = fresh(
        mixed("shader", "colluder", "weak", expected_surplus=0.3, rivals=5.0), 3, parameters
    )
    assert isinstance(state, StrategicState)
    assert len(state) == 3
    assert state.active.all()
    assert not state.over.any()
    assert not state.rounds.any()
    assert not state.wins.any()
    assert np.isnan(state.history).all()
    assert state.rings.shape == (3, 2)
    assert_array_equal(state.rings["gain"], 0.5)
    assert_array_equal(state.bidders["kind"], np.tile([0, 0, 0, 0, 1, 1, 1, 2, 2, 2], (3, 1)))
    assert_array_equal(state.bidders["expected_surplus"], 0.3)
    assert_array_equal(state.bidders["shill_gain"], 0.25)
    assert_array_equal(state.bidders["rivals_seen"] / state.bidders["rivals_distance"], 5.0)
    assert_array_equal(state.bidders["learning_rate"], 0.05)


@pytest.mark.parametrize("rounds", [0, 4])
def test_no_rounds_change_nothing(rounds):
    market, state = fresh(mixed(*COMMON), 4)
    mechanisms = Mechanisms.repeat(Mechanism(), 4)
    if rounds:
        market.play(state, mechanisms, rounds)
    before = copy.deepcopy(state)
    assert market.play(state, mechanisms, 0).records.shape == (4, 0, len(ROUND_FIELDS))
    assert_same_state(state, before)


def test_an_empty_batch_plays():
    market, state = fresh(mixed(*COMMON), 0)
    empty = Mechanisms.repeat(Mechanism(), 0)
    assert market.play(state, empty, 5).records.shape == (0, 5, len(ROUND_FIELDS))


# ------------------------------------------------------------------ batches, threads and forks


def by_hedge_and_q(bidders: int = 12) -> Population:
    """Return shaders, exploiters and a ring of each kind who learn from tables."""
    types = {
        f"{name} by {learner}": dataclasses.replace(TYPES[name], learner=learner)
        for name in ("shader", "exploiter", "colluder")
        for learner in ("hedge", "q")
    }
    return Population(bidders=bidders, types=types)


POPULATIONS = {
    "common": mixed(*COMMON),
    "by Hedge and Q-learning": by_hedge_and_q(),
    "shares drawn": dataclasses.replace(mixed(*COMMON), concentration=1.0),
    "rings": mixed("discreet", "weak", "shader", bidders=12, units=2),
    "more units than bids": mixed("dropout", "colluder", bidders=2, units=5, demand=1),
}
each_population = pytest.mark.parametrize("who", POPULATIONS.values(), ids=POPULATIONS)


def played(who: Population = POPULATIONS["common"], batch: int = 32, rounds: int = 30):
    """Return a market, its state after some rounds, the mixed mechanisms played, and records."""
    market, state = fresh(who, batch)
    mechanisms = draw_mechanisms(batch, np.random.default_rng(batch))
    outcome = market.play(state, mechanisms, rounds)
    return market, state, mechanisms, outcome.records


@each_population
def test_an_episode_is_the_same_alone_and_in_a_batch(who):
    market, state, mechanisms, records = played(who)
    for row in (0, 13, 31):
        alone = market.reset(market_seeds(3, "strategic", 32)[row : row + 1])
        outcome = market.play(alone, mechanisms.take(np.array([row])), 30)
        assert outcome.records[0].tobytes() == records[row].tobytes()
        assert_same_state(alone, state.fork(np.array([row])))


@pytest.mark.parametrize("split", [(3, 27), (15, 15), (1,) * 30])
@each_population
def test_one_call_of_many_rounds_is_many_calls_of_fewer(who, split):
    market, state, mechanisms, records = played(who)
    again = market.reset(market_seeds(3, "strategic", 32))
    parts = [market.play(again, mechanisms, rounds).records for rounds in split]
    assert np.concatenate(parts, axis=1).tobytes() == records.tobytes()
    assert_same_state(again, state)


@each_population
def test_one_thread_gives_the_same_as_two(who):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("numba has one thread here")
    before = numba.get_num_threads()
    results = []
    try:
        for threads in (1, 2):
            numba.set_num_threads(threads)
            results.append(played(who, batch=501))
    finally:
        numba.set_num_threads(before)
    (_, one_state, _, one_records), (_, two_state, _, two_records) = results
    assert one_records.tobytes() == two_records.tobytes()
    assert_same_state(one_state, two_state)


@each_population
def test_a_fork_under_the_same_rules_goes_on_like_its_original(who):
    market, state, mechanisms, _ = played(who)
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


def test_forks_on_one_seed_face_the_same_values_under_other_rules():
    market, state = fresh(Population(), 1)
    market.play(state, Mechanisms.repeat(Mechanism(), 1), 3)
    mechanisms = [
        Mechanism(reserve_price=0.9, auction_type="first_price"),
        Mechanism(reserve_price=0.0),
        Mechanism(coalition_policy="restrict", collusion_penalty=3.0),
    ]
    fork = state.fork(np.zeros(3, np.int64), np.full(3, 11, np.uint64))
    for _ in range(10):
        market.play(fork, Mechanisms.stack(mechanisms), 1)
        assert_array_equal(fork.bids[1], fork.bids[0])  # the truthful bid their values
        assert_array_equal(fork.bids[2], fork.bids[0])


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
    market, _ = fresh(Population(), 2)
    foreign = MarketState(**MarketState.common(np.arange(2, dtype=np.uint64), 8))
    before = copy.deepcopy(foreign)
    with pytest.raises(ValueError, match="state"):
        market.play(foreign, Mechanisms.repeat(Mechanism(), 2), 1)
    assert_same_state(foreign, before)


def test_a_state_of_more_or_fewer_bidders_is_refused():
    (small, small_state), (large, large_state) = (fresh(Population(bidders=n), 2) for n in (8, 12))
    for market, state in ((small, large_state), (large, small_state)):
        before = copy.deepcopy(state)
        with pytest.raises(ValueError, match="bidders"):
            market.play(state, Mechanisms.repeat(Mechanism(), 2), 1)
        assert_same_state(state, before)


@pytest.mark.parametrize("names", [("truthful",), ("discreet", "weak"), COMMON])
def test_a_state_of_other_types_is_refused(names):
    """It may hold types that this market does not know, more or fewer rings, or other tables."""
    market, _ = fresh(mixed("truthful", "weak"), 2)
    _, state = fresh(mixed(*names), 2)
    before = copy.deepcopy(state)
    with pytest.raises(ValueError, match="state"):
        market.play(state, Mechanisms.repeat(Mechanism(), 2), 1)
    assert_same_state(state, before)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("entry_scale", 0.0),
        ("reduction_scale", 0.0),
        ("ring_scale", 0.0),
        ("shill_scale", 0.0),
        ("ring_patience", 1.0),
    ],
)
def test_parameters_do_not_divide_by_zero(name, value):
    with pytest.raises(ValueError, match=name):
        StrategicParameters(**{name: value})


@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf")])
@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(StrategicParameters)])
def test_parameters_are_finite_and_not_negative(name, value):
    with pytest.raises(ValueError, match=name):
        StrategicParameters(**{name: value})


# ----------------------------------------------------------------------------- what comes out


def assert_metrics_in_range(records: np.ndarray, who: Population) -> None:
    assert np.isfinite(records).all()
    high = {"dropouts": who.bidders, "clearing_price": np.inf, "revenue": np.inf}
    for column, name in enumerate(ROUND_FIELDS):
        assert records[..., column].min() >= 0, name
        assert records[..., column].max() <= high.get(name, 1), name
    dropouts = records[..., ROUND_FIELDS.index("dropouts")]
    assert_array_equal(dropouts, np.round(dropouts))


@given(seed=st.integers(0, 2**32), odd=st.booleans())
@settings(max_examples=150, deadline=None)
def test_metrics_stay_in_range(seed, odd):
    rng = np.random.default_rng(seed)
    who = random_population(rng)
    market, state = fresh(who, 4, random_parameters(rng) if odd else None)
    for _ in range(2):
        records = market.play(state, draw_mechanisms(4, rng), 20).records
        assert_metrics_in_range(records, who)
        assert_metrics_in_range(state.recent(), who)
        assert np.isfinite(market.proxies(state)).all()


@pytest.mark.parametrize("units", [1, 2, 5])
@pytest.mark.parametrize("bidders", [2, 3, 64])
def test_nobody_enters_where_no_surplus_is_expected(bidders, units):
    parameters = StrategicParameters(entry_floor=0.0, entry_cost=10.0)
    names = [name for name in TYPES if name != "truthful"]
    who = mixed(*names, bidders=bidders, units=units, expected_surplus=0.0)
    market, state = fresh(who, 20, parameters)
    records = market.play(state, draw_mechanisms(20, np.random.default_rng(0)), 30).records
    assert not state.bids.any()
    assert_array_equal(records[..., ROUND_FIELDS.index("dropouts")], bidders)
    assert_array_equal(records[..., ROUND_FIELDS.index("stability")], 1)
    others = [ROUND_FIELDS.index(f) for f in ROUND_FIELDS if f not in ("dropouts", "stability")]
    assert_array_equal(records[..., others], 0)
    assert_array_equal(state.recent(), records[:, -HISTORY_LENGTH:])


@pytest.mark.parametrize("name", [name for name in TYPES if "collude" not in TYPES[name].menu])
def test_without_a_budget_nobody_bids(name):
    who = mixed(name, budget=0.0)
    market, state = fresh(who, 40)
    records = market.play(state, draw_mechanisms(40, np.random.default_rng(0)), 20).records
    assert_metrics_in_range(records, who)
    assert not state.bids.any()
    assert not state.wins.any()


@pytest.mark.parametrize("name", TYPES)
def test_nobody_spends_more_than_its_budget(name):
    market, state = fresh(mixed(name, budget=0.7), 60)
    market.play(state, draw_mechanisms(60, np.random.default_rng(0)), 60)
    assert state.bidders["spent"].max() <= 0.7 + 1e-12


def test_a_spent_budget_bids_nothing():
    market, state = fresh(mixed("exploiter", budget=0.3), 2000)
    mechanisms = draw_mechanisms(2000, np.random.default_rng(0))
    mechanisms.reserve_price[:] = 0.0
    for _ in range(20):
        market.play(state, mechanisms, 3)
        assert not ((state.bids > 0) & (state.bids < 1e-12)).any()


def test_pay_as_bid_accepts_the_best_bids():
    """Nothing is given back here, so that what is accepted is the best that was offered."""
    types = {
        "honest": BidderType(share=2),
        "ring": BidderType(share=6, menu=["shade", "collude"]),
    }
    market, state = fresh(Population(types=types), 60, StrategicParameters(shock_rate=0.0))
    mechanism = Mechanism(auction_type="first_price", reserve_price=0.0)
    for _ in range(5):
        market.play(state, Mechanisms.repeat(mechanism, 60), 20)
        assert_allclose(state.recent()[..., ROUND_FIELDS.index("welfare")], 1, atol=1e-12)


def test_a_false_name_bids_something():
    """Where units cost next to nothing, false names go on at the smallest bid."""
    types = {
        "cheap": BidderType(share=7, value_high=0.01),
        "shill": BidderType(share=1, value_high=0.01, menu=["shill"]),
    }
    parameters = StrategicParameters(shill_prior=1.0, shill_gain=0.0)
    market, state = fresh(Population(types=types, units=1), 20, parameters)
    market.play(state, Mechanisms.repeat(Mechanism(reserve_price=0.0), 20), 40)
    assert state.expected_price.max() < 0.015
    assert_array_equal(state.alias_bids, np.tile([0.0] * 7 + [0.02], (20, 1)))


@pytest.mark.parametrize("reserve", [0.0, 0.9])
@pytest.mark.parametrize("units", [1, 5])
@pytest.mark.parametrize("bidders", [2, 64])
def test_the_smallest_and_largest_markets_play(bidders, units, reserve):
    who = mixed(*COMMON, bidders=bidders, units=units)
    market, state = fresh(who, 30)
    mechanisms = draw_mechanisms(30, np.random.default_rng(0))
    mechanisms.reserve_price[:] = reserve
    assert_metrics_in_range(market.play(state, mechanisms, 30).records, who)
    assert_metrics_in_range(state.recent()[:, -20:], who)


def test_vcg_is_second_price_for_one_unit():
    rng = np.random.default_rng(5)
    for _ in range(60):
        market, state = fresh(dataclasses.replace(random_population(rng), units=1), 4)
        drawn, outcomes = draw_mechanisms(4, rng), []
        for code in (AUCTION_TYPES.index("vcg"), AUCTION_TYPES.index("second_price")):
            mechanisms = dataclasses.replace(drawn, auction_type=np.full(4, code))
            fork = state.fork(np.arange(4))
            outcomes.append((market.play(fork, mechanisms, 30).records, fork))
        (left, left_state), (right, right_state) = outcomes
        assert left.tobytes() == right.tobytes()
        assert_same_state(left_state, right_state)


# --------------------------------------------------------------------------- honest observables


def observe(market: StrategicMarket, state: StrategicState) -> bytes:
    env = DesignEnv(market, MarketSettings())
    env.state, env.mechanisms = state, Mechanisms.repeat(Mechanism(), len(state))
    env.steps = np.zeros(len(state), np.int64)
    seen = env.observe()
    return seen.recent.tobytes() + seen.proxies.tobytes() + seen.round_number.tobytes()


@each_population
def test_an_observation_does_not_look_at_what_is_hidden(who):
    market, state, _, _ = played(who)
    before, rng = observe(market, state), np.random.default_rng(0)
    hidden = [state.expected_price, state.welfare, state.tables]
    for table_ in (state.bidders, state.rings):
        hidden += [table_[name] for name in table_.dtype.names]
    for array in hidden:
        array[:] = rng.permutation(array.ravel()).reshape(array.shape) + rng.integers(1, 9)
    assert observe(market, state) == before
    state.bids[:, 0] += 0.1
    assert observe(market, state) != before


def capped(low: float, high: float, bidders: int, units: int) -> Population:
    """Return bidders whose bids are their budgets, and a ring that draws lots for who may win."""
    common = {"value_low": low, "value_high": high}
    types = {
        "poor": BidderType(budget=0.2, **common),
        "patient": BidderType(budget=0.45, menu=["shill"], **common),
        "rich": BidderType(budget=0.5, menu=["shill", "shade"], **common),
        "ring": BidderType(budget=0.4, menu=["collude"], efficient_ring=False, **common),
    }
    return Population(bidders=bidders, types=types, units=units)


@pytest.mark.parametrize(
    ("bidders", "units"),
    [(8, 1), (8, 3), (12, 2), (2, 5), (64, 5)],
)
def test_values_move_an_observation_through_bids_alone(bidders, units):
    parameters = StrategicParameters(pacing_gain=0.0, ring_prior=1e3, ring_gain=0.0)
    rng = np.random.default_rng(bidders)
    mechanisms = draw_mechanisms(60, rng)
    mechanisms.auction_type[:] = rng.integers(1, 3, size=60)  # where nobody shades
    seen, records = [], []
    for low, high in ((0.5, 0.6), (0.7, 1.0)):
        market, state = fresh(capped(low, high, bidders, units), 60, parameters)
        parts = []
        for _ in range(10):
            parts.append(market.play(state, mechanisms, 3).records)
            seen.append(observe(market, state))
            seen.append(state.bids.tobytes() + state.alias_bids.tobytes() + state.wins.tobytes())
        records.append(np.concatenate(parts, axis=1))
    half = len(seen) // 2
    assert seen[:half] == seen[half:]
    assert len(set(seen[:half])) > 10
    for name in ("welfare", "gini", "revenue_share"):
        column = ROUND_FIELDS.index(name)
        assert not np.array_equal(records[0][..., column], records[1][..., column]), name


# ------------------------------------------------------------------- what bidders are told


def telling(**changes) -> Mechanism:
    """Return a mechanism that discloses nothing except what ``changes`` say."""
    return Mechanism(**{"reveal_clearing_price": False, "reserve_price": 0.05} | changes)


def learners(**changes) -> Population:
    always = BidderType(menu=["shade"], **changes)
    return Population(bidders=8, types={"learner": always}, units=3)


def moved(state: StrategicState, fresh_state: StrategicState, names=LEARNED) -> np.ndarray:
    """Return which bidders' beliefs are no longer what they were, shape (B, n)."""
    changed = [state.bidders[name] != fresh_state.bidders[name] for name in names]
    return np.any(changed, axis=0)


@pytest.mark.parametrize("flag", [None, "reveal_reserve", "reveal_winner_identity"])
@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
def test_nothing_is_learned_about_bids_where_nothing_is_told_of_them(auction_type, flag):
    market, state = fresh(mixed(*COMMON, "weak", bidders=12), 30)
    before = copy.deepcopy(state)
    mechanism = telling(auction_type=auction_type, **({flag: True} if flag else {}))
    market.play(state, Mechanisms.repeat(mechanism, 30), 40)
    assert not moved(state, before).any()


@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
def test_the_price_tells_winners_or_losers_what_they_had_to_beat(auction_type):
    market, state = fresh(learners(demand=1), 200, StrategicParameters(shock_rate=0.0))
    before = copy.deepcopy(state)
    mechanism = telling(auction_type=auction_type, reveal_clearing_price=True)
    market.play(state, Mechanisms.repeat(mechanism, 200), 1)
    can_tell = state.wins == 0 if auction_type == "first_price" else state.wins > 0
    assert can_tell.any(axis=1).all() and not can_tell.all(axis=1).any()
    assert_array_equal(moved(state, before), can_tell)


@pytest.mark.parametrize("flag", ["reveal_competing_bids", "reveal_bid_distribution"])
@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
def test_bids_and_their_distribution_tell_everyone(auction_type, flag):
    market, state = fresh(learners(), 200)
    before = copy.deepcopy(state)
    market.play(
        state, Mechanisms.repeat(telling(auction_type=auction_type, **{flag: True}), 200), 1
    )
    assert moved(state, before, ("rivals_distance",)).all()


@pytest.mark.parametrize("flag", ["reveal_competing_bids", "reveal_bid_distribution"])
def test_only_uniform_prices_teach_to_reduce_demand(flag):
    for auction_type in AUCTION_TYPES:
        market, state = fresh(learners(), 50)
        before = copy.deepcopy(state)
        mechanism = telling(auction_type=auction_type, **{flag: True})
        market.play(state, Mechanisms.repeat(mechanism, 50), 5)
        changed = moved(state, before, ("reduction_gain",))
        assert changed.any() == (auction_type == "second_price")


PRICE_ALONE = {"reveal_clearing_price": True, "reveal_winner_identity": True}


def beliefs_against(auction_type, learner, rivals, units, told) -> list[bytes]:
    """Return what the first bidder comes to believe against each of the rivals, by their values."""
    seen = []
    for low, high in rivals:
        types = {
            "learner": dataclasses.replace(learner, menu=["shade"]),
            "middle": BidderType(value_low=0.4, value_high=0.5, demand=1),
            "rival": BidderType(value_low=low, value_high=high, demand=1),
        }
        who = Population(bidders=3, types=types, units=units)
        market, state = fresh(who, 20, StrategicParameters(reduction_scale=1e-6))
        mechanism = telling(auction_type=auction_type, reveal_reserve=True, **told)
        market.play(state, Mechanisms.repeat(mechanism, 20), 25)
        seen.append(state.bidders[:, 0].tobytes())
    return seen


@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
@pytest.mark.parametrize(
    ("learner", "rivals"),
    [
        (BidderType(value_low=0.9, demand=1), [(0.1, 0.2), (0.3, 0.4)]),  # wins, they lose
        (BidderType(value_high=0.1, demand=1), [(0.6, 0.7), (0.8, 1.0)]),  # loses, they win
    ],
    ids=["winner", "loser"],
)
def test_bids_that_are_not_told_teach_nothing(auction_type, learner, rivals):
    """Of three bidders the rival never sets the price: it loses below it or wins above it."""
    units = 1 if learner.value_low else 2
    untold = beliefs_against(auction_type, learner, rivals, units, PRICE_ALONE)
    assert untold[0] == untold[1]


def test_a_price_tells_nothing_of_the_bids_below_it():
    learner = BidderType(value_low=0.9, demand=2)  # wins both units at the middle bid
    rivals = [(0.1, 0.2), (0.2, 0.3)]
    untold = beliefs_against("second_price", learner, rivals, 2, PRICE_ALONE)
    assert untold[0] == untold[1]


def test_a_bidder_knows_its_own_false_name():
    types = {
        "shill": BidderType(menu=["shade", "shill"], value_low=0.9),
        "weak": BidderType(value_high=0.05),
    }
    parameters = StrategicParameters(shill_prior=1.0, shill_gain=0.0)
    market, state = fresh(Population(bidders=2, types=types, units=1), 20, parameters)
    mechanism = telling(reserve_price=0.2, reveal_competing_bids=True)
    market.play(state, Mechanisms.repeat(mechanism, 20), 10)
    assert (state.bidders["rivals_seen"][:, 0] < 1).all()


def test_a_secret_reserve_is_not_learned_from_a_price_of_nothing():
    parameters = StrategicParameters(entry_floor=0.0, entry_cost=10.0)
    expected = []
    for reserve in (0.2, 0.4):
        market, state = fresh(mixed("shader"), 10, parameters)
        mechanism = telling(reserve_price=reserve, reveal_clearing_price=True)
        market.play(state, Mechanisms.repeat(mechanism, 10), 5)
        assert not state.bids.any()
        expected.append(state.bidders["expected_surplus"])
    assert_array_equal(*expected)


def test_a_ring_that_competes_learns_only_from_what_it_is_told():
    parameters = StrategicParameters(ring_scale=1e-6)
    market, state = fresh(mixed("discreet", "shader"), 20, parameters)
    state.rings["gain"] = -1.0
    silent = state.fork(np.arange(20))
    market.play(silent, Mechanisms.repeat(telling(reveal_winner_identity=True), 20), 5)
    assert_array_equal(silent.rings["gain"], -1.0)
    for flag in ("reveal_competing_bids", "reveal_bid_distribution", "reveal_clearing_price"):
        told = state.fork(np.arange(20))
        market.play(told, Mechanisms.repeat(telling(**{flag: True}), 20), 5)
        assert (told.rings["gain"] > -1.0).all()


@pytest.mark.parametrize("auction_type", ["second_price", "vcg"])
def test_a_price_that_cannot_be_known_moves_no_false_name(auction_type):
    types = {"shill": TYPES["exploiter"], "truthful": BidderType(value_low=0.8)}
    for flag in (None, "reveal_reserve", "reveal_winner_identity", "reveal_clearing_price"):
        market, state = fresh(Population(bidders=6, types=types, units=1), 20)
        before = state.expected_price.copy()
        mechanism = telling(auction_type=auction_type, **({flag: True} if flag else {}))
        market.play(state, Mechanisms.repeat(mechanism, 20), 10)
        known = flag == "reveal_clearing_price"
        assert (state.expected_price != before).all() == known
        assert (state.expected_price == before).all() == (not known)


def ring_against(outsider: BidderType, mechanism: Mechanism) -> StrategicState:
    """Return the states after a round in which five of eight, by lot, face three outsiders."""
    ring = BidderType(5, ["collude"], value_low=0.3, efficient_ring=False)
    types = {"ring": ring, "outsider": dataclasses.replace(outsider, share=3.0)}
    parameters = StrategicParameters(ring_scale=1e-6, ring_prior=0.01)
    market, state = fresh(Population(types=types, units=2), 200, parameters)
    market.play(state, Mechanisms.repeat(mechanism, 200), 1)
    return state


@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
def test_who_breaks_a_deal_has_not_seen_what_outsiders_bid(auction_type):
    mechanism = Mechanism(auction_type=auction_type, reserve_price=0.0, reveal_reserve=True)
    low, high = (
        ring_against(BidderType(value_low=level, value_high=level + 0.05), mechanism)
        for level in (0.1, 0.9)
    )
    assert_array_equal(low.bids[:, :5], high.bids[:, :5])
    assert not np.array_equal(low.bids[:, 5:], high.bids[:, 5:])


@pytest.mark.parametrize("policy", ["allow", "penalize_confirmed"])
@pytest.mark.parametrize("auction_type", AUCTION_TYPES)
def test_a_ring_does_not_know_a_secret_reserve(auction_type, policy):
    common = {"auction_type": auction_type, "coalition_policy": policy, "collusion_penalty": 0.25}
    bids = [
        ring_against(BidderType(), Mechanism(reserve_price=reserve, **common)).bids[:, :5]
        for reserve in (0.0, 0.2, 0.5)
    ]
    assert_array_equal(bids[0], bids[1])
    assert_array_equal(bids[0], bids[2])
    known = Mechanism(reserve_price=0.5, reveal_reserve=True, **common)
    assert not np.array_equal(bids[2], ring_against(BidderType(), known).bids[:, :5])


# -------------------------------------------------------------------------------------- theory


@pytest.mark.parametrize("auction_type", ["second_price", "vcg"])
def test_an_efficient_ring_leaves_outsiders_as_they_were(auction_type):
    types = {"outsider": BidderType(share=5), "ring": BidderType(share=3, menu=["collude"])}
    parameters = StrategicParameters(shock_rate=0.0, ring_scale=1e-6, ring_gain=0.0)
    market, state = fresh(Population(types=types, units=1), 200, parameters)
    mechanism = Mechanism(auction_type=auction_type, reserve_price=0.0, reveal_reserve=True)
    played_out = []
    for gain in (-100.0, 100.0):
        fork = state.fork(np.arange(200))
        fork.rings["gain"] = gain
        outcome = market.play(fork, Mechanisms.repeat(mechanism, 200), 50)
        played_out.append((fork, outcome))
    (apart, competing), (together, colluding) = played_out
    for name in ("surplus", "spent", "units_won", "expected_surplus"):
        ours, theirs = together.bidders[name], apart.bidders[name]
        assert ours[:, :5].tobytes() == theirs[:, :5].tobytes(), name
    assert_array_equal(colluding.welfare, 1)
    surplus = [each.bidders["surplus"][:, 5:].sum(axis=1) for each in (apart, together)]
    assert (surplus[1] >= surplus[0]).all()
    assert (surplus[1] > surplus[0]).mean() > 0.9
    prices = [each.field("clearing_price") for each in (competing, colluding)]
    assert (prices[1] <= prices[0]).all()
    assert (prices[1] < prices[0]).mean() > 0.05
