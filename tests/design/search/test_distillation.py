"""Distillation: data from where the learner leads, on the given reward, gathered once for a run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from daedalus.design.search.budgets import DistillationBudget
from daedalus.design.search.distillation import (
    DistillationData,
    distil,
    gather_distillation_data,
    refined_candidates,
)
from daedalus.design.search.features import observed_features
from daedalus.design.search.lookahead import LookAhead
from daedalus.design.search.states import (
    EpsilonGreedyExplorer,
    RandomWalkDesigner,
    mid_episode_states,
)
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.market.observation import PROXIES
from daedalus.market.outcome import ROUND_FIELDS
from daedalus.market.seeds import generator, market_seeds
from tests.design.search.markets import (
    AGAINST_WELFARE,
    DROPOUTS,
    HIGH_AND_LOW,
    PUBLISHED,
    SHILL_BIDDERS,
    env_of,
    play_steps,
    published_reward,
)

BUDGET = DistillationBudget(rounds=2, states=200, futures=2, horizon=2)
RESERVE = len(PROXIES) + 2 * len(ROUND_FIELDS) + FIELDS.index("reserve_price")
SHARE_OF_EPISODE = -1
"""Where features hold the reserve and the share of the episode."""


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{"improvements": 1}, {"refinements": 1}])
def test_it_learns_to_maximise_the_given_reward(changes: dict[str, int]) -> None:
    """tests/design/designers/test_search.py has the plain budget."""
    budget = replace(BUDGET, **changes)
    designer = distil(env_of(AGAINST_WELFARE), HIGH_AND_LOW, budget, seed=0)
    chosen = designer.propose(env_of().reset(market_seeds(1, "x", 50)).observe(), generator(0, "d"))
    assert (chosen.reserve_price == 0.9).all()


def test_rewards_are_those_of_the_given_stack_in_the_states_that_were_observed() -> None:
    data = gather_distillation_data(env_of(PUBLISHED), HIGH_AND_LOW, BUDGET, seed=0)
    player = RandomWalkDesigner(HIGH_AND_LOW)
    states = mid_episode_states(env_of(), 200, 0, "lessons/0", 2, player)
    np.testing.assert_array_equal(data.features[:200], observed_features(states.observe()))
    seeds = market_seeds(0, "lessons/0/futures", 400).reshape(200, 2)
    for row, number in np.ndindex(20, 2):
        forks = states.fork(np.full(2, row), seeds[row])
        steps = [published_reward(each) for each in play_steps(forks, HIGH_AND_LOW[number], 2)]
        assert data.rewards[row, number] == pytest.approx(np.mean(steps))


def test_it_answers_shill_bidders_and_dropouts_differently() -> None:
    candidates = Mechanisms.stack(
        [
            Mechanism(auction_type="first_price", reserve_price=0.0),
            Mechanism(auction_type="second_price", reserve_price=0.0, withdrawal_penalty=1.5),
        ]
    )
    types = {"shill_bidders": SHILL_BIDDERS, "dropouts": DROPOUTS}
    designer = distil(env_of(**types), candidates, BUDGET, seed=0)
    fined = {}
    for name, bidders in types.items():
        observed = env_of(**{name: bidders}).reset(market_seeds(2, "x", 200)).observe()
        fined[name] = (designer.propose(observed, generator(0, "d")).withdrawal_penalty > 0).mean()
    assert fined["dropouts"] > 0.9
    assert fined["shill_bidders"] < 0.1


def test_later_rounds_are_where_the_learner_leads() -> None:
    data = gather_distillation_data(env_of(), HIGH_AND_LOW, BUDGET, seed=0)
    rounds = np.split(data.features, 2)
    high = [(each[each[:, SHARE_OF_EPISODE] > 0, RESERVE] == 0.9).mean() for each in rounds]
    assert 0.35 < high[0] < 0.65
    assert high[1] < 0.12  # exploration alone
    assert data.rewards.shape == (400, 2) and len(data.features) == 400
    again = gather_distillation_data(env_of(), HIGH_AND_LOW, BUDGET, seed=0)
    np.testing.assert_array_equal(data.rewards, again.rewards)


@pytest.mark.slow
def test_an_improvement_counts_what_is_left_of_the_episode() -> None:
    reserves = (0.9, 0.0, 0.8)  # the trees never choose the first
    candidates = Mechanisms.stack([Mechanism(reserve_price=each) for each in reserves])
    budget = replace(BUDGET, improvements=2, commitment_steps=1)
    data = gather_distillation_data(env_of(), candidates, budget, seed=0)
    assert list(data.candidates.reserve_price) == [0.0, 0.8]
    assert len(data.features) == 400 and data.rewards.shape == (400, 2)
    done = np.rint(4 * data.features[:, SHARE_OF_EPISODE])
    assert set(done) == {0, 1, 2, 3}  # four steps: the last has an answer too
    good, bad = data.rewards.T
    first, last = good[done == 0].mean(), good[done == 3].mean()
    assert first > 2.5 * last  # the trees act after it
    assert (good - bad)[done == 0].mean() < 2 * (good - bad)[done == 3].mean()  # and after the bad
    again = gather_distillation_data(env_of(), candidates, budget, seed=0)
    np.testing.assert_array_equal(data.rewards, again.rewards)


@pytest.mark.slow
def test_data_is_gathered_once_for_a_run(tmp_path: Path) -> None:
    pair = Mechanisms.stack([Mechanism(auction_type="vcg"), Mechanism(reserve_price=0.25)])
    learnt = distil(env_of(), pair, BUDGET, seed=0)
    kept = tmp_path / "run" / "distillation_data.npz"
    first = distil(env_of(), pair, BUDGET, 0, kept)
    written, other = kept.read_bytes(), pair.take(np.zeros(1, np.int64))
    again = distil(env_of(), other, BUDGET, 0, kept)
    named = replace(BUDGET, data=str(kept))
    copied = tmp_path / "other" / "distillation_data.npz"
    elsewhere = distil(env_of(), other, named, 0, copied)
    observed = env_of().reset(market_seeds(1, "x", 200)).observe()
    unkept = distil(env_of(), other, named, seed=0)
    for each in (first, again, elsewhere, unkept):
        np.testing.assert_array_equal(each.choose(observed), learnt.choose(observed))
        assert [each.candidates[row] for row in range(2)] == [pair[row] for row in range(2)]
    assert kept.read_bytes() == written
    assert DistillationData.read(copied).rewards.shape == (400, 2)


def test_data_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"data: no file gone\.npz"):
        DistillationBudget(data="gone.npz")


CANDIDATES = Mechanisms.stack(
    [
        Mechanism(reserve_price=0.0),
        Mechanism(reserve_price=0.8),
        Mechanism(auction_type="vcg", reserve_price=0.9),
    ]
)


@pytest.mark.slow
def test_a_candidate_is_swept_where_it_is_chosen_and_the_last_stays() -> None:
    env = env_of(dropouts=DROPOUTS)
    learner = distil(env, CANDIDATES, BUDGET, seed=0)
    refined = refined_candidates(env, learner, BUDGET, 0, "refinement")
    first, last = refined[0], refined[len(refined) - 1]
    assert len(refined) == 2  # the trees choose no other
    assert first.withdrawal_penalty > 0.0 and last == CANDIDATES[2]
    explorer = EpsilonGreedyExplorer(learner, CANDIDATES, 0.1)
    states = mid_episode_states(env, 300, 1, "x", 2, explorer)
    pair = Mechanisms.stack([CANDIDATES[0], first])
    before, after = LookAhead(4, 1).compare(states, pair, 2, "x").mean(axis=0)
    assert after > before + 0.02


@pytest.mark.slow
def test_data_after_a_refinement_compares_the_refined_candidates() -> None:
    env = env_of(dropouts=DROPOUTS)
    budget = replace(BUDGET, refinements=1)
    data = gather_distillation_data(env, CANDIDATES, budget, seed=0)
    assert data.rewards.shape == (400, len(data.candidates)) and len(data.candidates) == 2
    assert len(data.features) == BUDGET.rounds * BUDGET.states
    plain = gather_distillation_data(env, CANDIDATES, BUDGET, seed=0)
    assert plain.candidates is CANDIDATES
    assert data.rewards.max(axis=1).mean() > plain.rewards.max(axis=1).mean()
    again = gather_distillation_data(env, CANDIDATES, budget, seed=0)
    np.testing.assert_array_equal(data.rewards, again.rewards)
