"""The episode: warm-up, steps, malformed proposals, horizon and forks."""

from __future__ import annotations

import copy
import dataclasses

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from daedalus.design.env import DesignEnv, Episodes
from daedalus.market.allowed import Between, written_allowed
from daedalus.market.classic import ClassicMarket
from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, MechanismError, Mechanisms
from daedalus.market.outcome import ROUND_FIELDS
from daedalus.market.seat_plan import BidderGroup, SeatPlan
from daedalus.market.seeds import market_seeds
from daedalus.market.state import MarketState
from tests.market.states import arrays
from tests.populations import draw_mechanisms, seat_plan

SHAPES = ((1, 1), (4, 4), (7, 2))


def begun(batch: int = 6, who: SeatPlan | None = None, seed: int = 0, **settings: int) -> Episodes:
    env = DesignEnv(ClassicMarket(who or seat_plan(4)), MarketSettings(**settings))
    return env.reset(market_seeds(seed, "env", batch))


def proposals(batch: int = 6, seed: int = 0, malformed: tuple[int, ...] = ()) -> Mechanisms:
    drawn = draw_mechanisms(batch, np.random.default_rng(seed))
    return Mechanisms.stack([None if row in malformed else drawn[row] for row in range(batch)])


def assert_same_rows(left: MarketState, right: MarketState, rows) -> None:
    ours, theirs = arrays(left), arrays(right)
    for name in ours:
        assert ours[name][rows].tobytes() == theirs[name][rows].tobytes(), name


def assert_moved(left: MarketState, right: MarketState, rows) -> None:
    assert (left.rounds[rows] != right.rounds[rows]).all()
    assert (left.bids[rows] != right.bids[rows]).any(axis=1).all()


# ----------------------------------------------------------------------------- reset and reward


def test_reset_warms_up_under_the_incumbent_that_each_episode_draws():
    known = {"low": Mechanism(reserve_price=0.1), "high": Mechanism(reserve_price=0.5)}
    settings = MarketSettings(name="classic", warmup_rounds=20, incumbents=known)
    seeds = market_seeds(0, "env", 40)
    episodes = DesignEnv.of(settings, seat_plan(4)).reset(seeds)
    seen = episodes.observe()
    assert sorted(set(seen.mechanisms.reserve_price)) == [0.1, 0.5]
    market = ClassicMarket(seat_plan(4))
    state = market.reset(seeds)
    market.play(state, seen.mechanisms, 20)
    assert_same_rows(episodes.state, state, slice(None))


@pytest.mark.parametrize("rounds", [0, 3, 7])
def test_the_first_look_shows_the_warm_up_and_no_step(rounds):
    env = DesignEnv(ClassicMarket(seat_plan(2)), MarketSettings(warmup_rounds=rounds))
    episodes = env.reset(market_seeds(0, "env", 4))
    seen = episodes.observe()
    assert len(seen) == 4
    assert seen.recent.shape == (4, HISTORY_LENGTH, len(ROUND_FIELDS))
    assert np.isnan(seen.recent[:, : HISTORY_LENGTH - rounds]).all()
    assert np.isfinite(seen.recent[:, HISTORY_LENGTH - rounds :]).all()
    assert_array_equal(seen.round_number, 0)
    assert (seen.stage, seen.episode_length) == (2, 10)
    assert not episodes.done.any()


def test_a_reset_changes_neither_the_environment_nor_its_episodes():
    begun_before = begun()
    env, fresh = begun_before.env, copy.deepcopy(begun_before.state)
    begun_before.step(proposals())
    moved = copy.deepcopy(begun_before.state)
    again = env.reset(market_seeds(0, "env", 6))
    assert_same_rows(again.state, fresh, slice(None))
    assert_array_equal(again.steps, 0)
    assert again.mechanisms[0] == Mechanism()
    assert_same_rows(begun_before.state, moved, slice(None))
    with pytest.raises(dataclasses.FrozenInstanceError):
        env.settings = MarketSettings()


@pytest.mark.parametrize(
    ("rounds", "scored", "settings"),
    [(5, 3, {}), *((r, s, {"rounds_per_step": r, "scored_rounds": s}) for r, s in SHAPES)],
)
def test_reward_is_the_mean_composite_of_the_last_rounds_of_a_step(rounds, scored, settings):
    episodes = begun(**settings)
    result = episodes.step(proposals())
    composite = result.outcome.field("composite")
    assert composite.shape == (6, rounds)
    assert_allclose(result.reward, composite[:, -scored:].mean(axis=1), rtol=1e-15)
    assert (np.abs(result.reward - composite.mean(axis=1)).max() > 1e-3) == (scored < rounds)
    assert_array_equal(result.reward, result.composite)
    assert_array_equal(episodes.state.rounds, 3 + rounds)
    assert_array_equal(episodes.observe().recent[:, -rounds:], result.outcome.records)


# ---------------------------------------------------------------------------------- malformed


def test_a_malformed_step_scores_nothing_and_leaves_the_market():
    episodes = begun()
    episodes.step(proposals(seed=1))
    before, in_force = copy.deepcopy(episodes.state), [episodes.mechanisms[row] for row in range(6)]
    result = episodes.step(proposals(seed=2, malformed=(1, 4)))
    others = np.array([0, 2, 3, 5])
    assert_array_equal(result.reward[[1, 4]], 0)
    assert (result.reward[others] > 0).any()
    assert_array_equal(result.outcome.played[:, 0], [True, False, True, True, False, True])
    assert result.running.all()
    assert np.isnan(result.outcome.records[[1, 4]]).all()
    assert_same_rows(episodes.state, before, np.array([1, 4]))
    assert_moved(episodes.state, before, others)
    assert [episodes.mechanisms[row] for row in (1, 4)] == [in_force[row] for row in (1, 4)]
    assert episodes.mechanisms[2] == proposals(seed=2)[2]
    assert not episodes.mechanisms.malformed.any()
    assert_array_equal(episodes.steps, 2)


def test_malformed_steps_reach_the_horizon():
    episodes = begun()
    before = copy.deepcopy(episodes.state)
    for _ in range(10):
        assert not episodes.done.any()
        result = episodes.step(proposals(malformed=tuple(range(6))))
        assert not result.reward.any() and not result.outcome.played.any()
    assert episodes.done.all()
    assert_same_rows(episodes.state, before, slice(None))
    assert_array_equal(episodes.state.rounds, 3)


def test_a_neighbours_mistake_changes_nothing():
    careless, careful = begun(), begun()
    for step in range(4):
        mechanisms = proposals(seed=step)
        ours = careless.step(proposals(seed=step, malformed=(2,)))
        theirs = careful.step(mechanisms)
        others = np.array([0, 1, 3, 4, 5])
        assert ours.reward[others].tobytes() == theirs.reward[others].tobytes()
        assert_same_rows(careless.state, careful.state, others)


def test_another_number_of_mechanisms_is_refused_and_nothing_happens():
    episodes = begun()
    before = copy.deepcopy(episodes.state)
    for batch in (0, 1, 5, 7):
        with pytest.raises(ValueError, match=f"{batch} mechanisms for 6"):
            episodes.step(proposals(batch))
    assert_same_rows(episodes.state, before, slice(None))
    assert_array_equal(episodes.steps, 0)


# ---------------------------------------------------------------------------------- the end


@pytest.mark.parametrize("length", [1, 4, 10])
def test_the_horizon_ends_an_episode(length):
    episodes = begun(episode_length=length)
    for step in range(length):
        assert not episodes.done.any()
        result = episodes.step(proposals(seed=step))
        assert_array_equal(episodes.observe().round_number, step + 1)
        assert episodes.done.all() == (step + 1 == length)
        assert result.outcome.played.all()
    assert episodes.done.all()


def test_an_ended_episode_stays_as_it_is():
    episodes = begun(episode_length=2)
    episodes.step(proposals())
    episodes.step(proposals(seed=1))
    last = episodes.observe()
    before = copy.deepcopy(episodes.state)
    after = episodes.step(proposals(seed=2))
    assert_array_equal(after.reward, 0)
    assert episodes.done.all()
    assert not after.outcome.played.any() and not after.running.any()
    assert_same_rows(episodes.state, before, slice(None))
    assert_array_equal(episodes.observe().round_number, 2)
    for name in ("recent", "proxies"):
        ours, theirs = getattr(episodes.observe(), name), getattr(last, name)
        assert ours.tobytes() == theirs.tobytes()
    assert [episodes.mechanisms[row] for row in range(6)] == [
        proposals(seed=1)[r] for r in range(6)
    ]


def test_an_episode_ends_when_nobody_is_left_while_others_go_on():
    leavers = BidderGroup("dropout", list(range(8)), 0.5, 0.6, threshold=0.1)
    episodes = begun(who=SeatPlan(2, 8, {"leavers": leavers}))
    assert episodes.state.active.all()
    reserves = (0.9, 0.2, 0.2) * 2
    proposed = Mechanisms.stack([Mechanism(reserve_price=each) for each in reserves])
    result = episodes.step(proposed)
    ended, others = np.array([0, 3]), np.array([1, 2, 4, 5])
    assert_array_equal(np.flatnonzero(episodes.done), ended)
    assert result.outcome.played.all()
    assert_array_equal(result.reward[ended], 0)
    assert (result.reward[others] > 0).all()
    assert not episodes.state.active[ended].any()

    before = copy.deepcopy(episodes.state)
    again = episodes.step(Mechanisms.repeat(Mechanism(reserve_price=0.0), 6))
    assert_same_rows(episodes.state, before, ended)
    assert_moved(episodes.state, before, others)
    assert_array_equal(again.reward[ended], 0)
    assert_array_equal(episodes.observe().round_number, [1, 2, 2, 1, 2, 2])
    assert_array_equal(episodes.mechanisms.reserve_price, [0.9, 0, 0, 0.9, 0, 0])


# ---------------------------------------------------------------------------------- forks


def test_a_fork_goes_on_like_its_original_and_apart_from_it():
    episodes = begun()
    episodes.step(proposals())
    fork = episodes.fork(np.arange(6))
    before, steps = copy.deepcopy(episodes.state), episodes.steps.copy()
    theirs = [fork.step(proposals(seed=s)).reward for s in (1, 2)]
    assert_same_rows(episodes.state, before, slice(None))
    assert_array_equal(episodes.steps, steps)
    assert [episodes.mechanisms[row] for row in range(6)] == [proposals()[row] for row in range(6)]
    ours = [episodes.step(proposals(seed=s)).reward for s in (1, 2)]
    assert_array_equal(ours, theirs)
    assert_same_rows(episodes.state, fork.state, slice(None))


def test_a_fork_repeats_rows_with_their_history():
    episodes = begun()
    episodes.step(proposals(malformed=(1,)))
    rows = np.array([4, 1, 4])
    fork = episodes.fork(rows)
    seen, original = fork.observe(), episodes.observe()
    assert_array_equal(seen.recent, original.recent[rows])
    assert_array_equal(seen.proxies, original.proxies[rows])
    assert_array_equal(fork.steps, episodes.steps[rows])
    assert [fork.mechanisms[i] for i in range(3)] == [episodes.mechanisms[int(row)] for row in rows]


def test_forks_on_shared_futures_differ_only_by_their_rules():
    episodes = begun(batch=1)
    seeds = np.repeat(market_seeds(0, "futures", 2), 2)
    mechanisms = Mechanisms.stack([Mechanism(), Mechanism(auction_type="first_price")] * 2)
    fork = episodes.fork(np.zeros(4, np.int64), seeds)
    fork.step(mechanisms)
    values = fork.state.bidders["value"]
    assert_array_equal(values[0], values[1])
    assert_array_equal(values[2], values[3])
    assert (values[0] != values[2]).all()


CLASSIC = MarketSettings(name="classic")


def test_a_goal_says_what_may_be_set() -> None:
    allowed = {"reserve_price": Between(0.1, 0.3)}
    env = dataclasses.replace(DesignEnv.of(CLASSIC, seat_plan(4)), allowed=written_allowed(allowed))
    assert (
        env.allowed == env.goal.allowed == allowed == env.with_population(seat_plan(2)).goal.allowed
    )
    episodes = env.reset(market_seeds(0, "test", 2))
    assert episodes.observe().goal(1).allowed == allowed
    before = episodes.steps.copy()
    with pytest.raises(MechanismError, match=r"reserve_price: 0.5 is not allowed; give a number"):
        episodes.step(Mechanisms.stack([Mechanism(), Mechanism(reserve_price=0.5)]))
    assert_array_equal(episodes.steps, before)
    episodes.step(Mechanisms.stack([Mechanism(), None]))
    with pytest.raises(ValueError, match=r"allowed\.reserve_price: 2 is not allowed"):
        dataclasses.replace(env, allowed={"reserve_price": (2,)})


def test_words_change_nothing() -> None:
    plain = DesignEnv.of(CLASSIC, seat_plan(4))
    told = dataclasses.replace(plain, brief="small growers must not be shut out")
    assert told.goal.brief and not plain.goal.brief and repr(told) == repr(plain)
