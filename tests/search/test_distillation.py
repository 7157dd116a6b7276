"""The distilled regressor reads the market: it chooses by what it observes, and chooses well."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from daedalus.designers.planner import DistilledSettings
from daedalus.env import DesignEnv
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.market.outcome import PROXIES, ROUND_FIELDS
from daedalus.market.population import BidderType, Population
from daedalus.market.seeds import generator, market_seeds
from daedalus.search.distillation import distil, gather_lessons, teacher, write_lessons
from daedalus.search.states import mid_episode_states
from daedalus.search.trees import Distilled, features

SETTINGS = DistilledSettings(rounds=2, states=200, futures=2, horizon=2)
CHEATS = BidderType(1, ["shill"], value_high=0.6)
RESERVE = len(PROXIES) + 2 * len(ROUND_FIELDS) + FIELDS.index("reserve_price")
SHARE_OF_EPISODE = -1
"""Where features hold what."""

WALKERS = BidderType(1, ["withdraw"], value_low=0.4, outside_option=0.2)


def environment(**types: BidderType) -> DesignEnv:
    settings = MarketSettings(episode_length=4)
    who = Population(types=types or {"truthful": BidderType()}, units=2, concentration=0.05)
    return DesignEnv.of(settings, who)


def test_features_are_finite_before_the_first_round_and_differ_between_markets() -> None:
    env = environment()
    settings = MarketSettings(warmup_rounds=0)
    empty = DesignEnv(env.market, settings).reset(market_seeds(0, "x", 3))
    seen = features(empty)
    assert seen.shape[0] == 3 and np.isfinite(seen).all()
    assert len(np.unique(features(env.reset(market_seeds(0, "x", 3))), axis=0)) == 3


def test_it_never_chooses_what_is_bad_everywhere() -> None:
    rules = Mechanisms.stack([Mechanism(reserve_price=0.9), Mechanism(reserve_price=0.0)])
    designer = distil(environment(), rules, SETTINGS, seed=0)
    chosen = designer.propose(environment().reset(market_seeds(1, "x", 50)), generator(0, "d"))
    assert (chosen.reserve_price == 0.0).all()


def test_it_answers_cheats_and_walkers_differently() -> None:
    rules = Mechanisms.stack(
        [
            Mechanism(auction_type="first_price", reserve_price=0.0),
            Mechanism(auction_type="second_price", reserve_price=0.0, withdrawal_penalty=1.5),
        ]
    )
    designer = distil(environment(cheats=CHEATS, walkers=WALKERS), rules, SETTINGS, seed=0)
    fined = {}
    for name, kind in {"cheats": CHEATS, "walkers": WALKERS}.items():
        seen = environment(**{name: kind}).reset(market_seeds(2, "x", 200))
        fined[name] = (designer.propose(seen, generator(0, "d")).withdrawal_penalty > 0).mean()
    assert fined["walkers"] > 0.9
    assert fined["cheats"] < 0.1


def test_expectations_know_what_is_observed_and_not_what_happened() -> None:
    states, fresh = (mid_episode_states(environment(), 400, 0, name) for name in "xy")
    rng, rules = generator(0, "n"), Mechanisms.stack([Mechanism(), Mechanism(reserve_price=0.9)])
    seen, elsewhere = features(states.observe()), features(fresh.observe())
    luck = rng.normal(0.0, 0.06, (400, 2))
    hindsight = luck + np.array([0.0, 0.05])
    assert 0.6 < (hindsight.argmax(axis=1) == 1).mean() < 0.8
    expected = Distilled.fit(seen, hindsight, rules, seed=0).expected(elsewhere)
    assert (expected.argmax(axis=1) == 1).mean() > 0.95
    price, there = (each.observe().proxy("bid_mean") for each in (states, fresh))
    told = luck + np.where(price > np.median(price), 0.3, -0.3)[:, None] * np.array([-1.0, 1.0])
    expected = Distilled.fit(seen, told, rules, seed=0).expected(elsewhere)
    far = np.abs(there - np.median(price)) > 0.5 * price.std()
    chosen = expected[far].argmax(axis=1) == 1
    assert (chosen == (there[far] > np.median(price))).mean() > 0.95


def test_later_lessons_are_where_the_learner_goes() -> None:
    rules = Mechanisms.stack([Mechanism(reserve_price=0.9), Mechanism(reserve_price=0.0)])
    lessons = gather_lessons(environment(), rules, SETTINGS, seed=0)
    rounds = np.split(lessons.seen, 2)
    high = [(each[each[:, SHARE_OF_EPISODE] > 0, RESERVE] == 0.9).mean() for each in rounds]
    assert 0.35 < high[0] < 0.65
    assert high[1] < 0.12  # exploration alone
    assert lessons.rewards.shape == (400, 2) and len(lessons.seen) == 400
    again = gather_lessons(environment(), rules, SETTINGS, seed=0)
    np.testing.assert_array_equal(lessons.rewards, again.rewards)


def test_an_improvement_counts_what_is_left_of_the_episode() -> None:
    reserves = (0.9, 0.0, 0.8)  # nobody chooses the first
    rules = Mechanisms.stack([Mechanism(reserve_price=each) for each in reserves])
    settings = replace(SETTINGS, improvements=2, kept=1)
    lessons = gather_lessons(environment(), rules, settings, seed=0)
    assert list(lessons.rules.reserve_price) == [0.0, 0.8]
    assert len(lessons.seen) == 400 and lessons.rewards.shape == (400, 2)
    done = np.rint(4 * lessons.seen[:, SHARE_OF_EPISODE])
    assert set(done) == {0, 1, 2, 3}  # four steps: the last has an answer too
    good, bad = lessons.rewards.T
    first, last = good[done == 0].mean(), good[done == 3].mean()
    assert first > 2.5 * last  # the learner goes on after it
    assert (good - bad)[done == 0].mean() < 2 * (good - bad)[done == 3].mean()  # and after the bad
    again = gather_lessons(environment(), rules, settings, seed=0)
    np.testing.assert_array_equal(lessons.rewards, again.rewards)


def test_lessons_are_gathered_once_for_a_run(tmp_path: Path) -> None:
    rules = Mechanisms.stack([Mechanism(auction_type="vcg"), Mechanism(reserve_price=0.25)])
    learnt = distil(environment(), rules, SETTINGS, seed=0)
    first = teacher(environment(), rules, SETTINGS, tmp_path / "run", seed=0)
    kept = tmp_path / "run" / "lessons.npz"
    written, other = kept.read_bytes(), rules.take(np.zeros(1, np.int64))
    again = teacher(environment(), other, SETTINGS, tmp_path / "run", seed=0)
    named = replace(SETTINGS, lessons=str(kept))
    elsewhere = teacher(environment(), other, named, tmp_path / "other", seed=0)
    seen = environment().reset(market_seeds(1, "x", 200))
    for each in (first, again, elsewhere, distil(environment(), other, named, seed=0)):
        np.testing.assert_array_equal(each.choose(seen), learnt.choose(seen))
        assert [each.candidates[row] for row in range(2)] == [rules[row] for row in range(2)]
    assert kept.read_bytes() == written
    assert (tmp_path / "other" / "lessons.npz").exists()


def test_lessons_of_other_features_are_refused(tmp_path: Path) -> None:
    rules = Mechanisms.stack([Mechanism(), Mechanism(reserve_price=0.9)])
    found = gather_lessons(environment(), rules, SETTINGS, seed=0)
    write_lessons(replace(found, seen=found.seen[:, 1:]), tmp_path / "lessons.npz")
    old = teacher(environment(), rules, SETTINGS, tmp_path, seed=0)
    with pytest.raises(ValueError, match=r"remove lessons\.npz"):
        old.propose(environment().reset(market_seeds(1, "x", 2)), generator(0, "d"))


def test_lessons_that_are_not_there_are_missed_at_once() -> None:
    with pytest.raises(ValueError, match=r"no file gone\.npz"):
        DistilledSettings(lessons="gone.npz")


def test_predictions_are_the_same_to_the_bit_whatever_is_predicted_beside() -> None:
    rules = Mechanisms.stack([Mechanism(), Mechanism(reserve_price=0.9)])
    rng = generator(0, "n")
    seen = rng.normal(size=(6000, 12))
    learnt = Distilled.fit(seen[:500], rng.normal(size=(500, 2)), rules, seed=0)
    expected = learnt.expected(seen)
    assert expected.shape == (6000, 2)
    np.testing.assert_array_equal(expected, learnt.expected(seen))
    np.testing.assert_array_equal(expected[4321:4400], learnt.expected(seen[4321:4400]))
    assert learnt.expected(seen[:0]).shape == (0, 2)
