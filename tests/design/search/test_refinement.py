"""Refined candidates are fitted to the states in which they are chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from daedalus.design.search.distillation import distil, gather_distillation_data
from daedalus.design.search.lookahead import LookAhead
from daedalus.design.search.refinement import refined_candidates
from daedalus.design.search.states import EpsilonGreedyExplorer, mid_episode_states
from daedalus.market.mechanism import Mechanism, Mechanisms
from tests.design.search.markets import AGAINST_WELFARE, DROPOUTS, env_of
from tests.design.search.test_distillation import BUDGET

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
def test_candidates_are_swept_for_the_given_reward() -> None:
    env = env_of()
    learner = distil(env, CANDIDATES, BUDGET, seed=0)
    refined = refined_candidates(env_of(AGAINST_WELFARE), learner, BUDGET, 0, "refinement")
    assert learner.choose(env.reset(np.arange(20, dtype=np.uint64)).observe()).max() == 0
    assert refined[0].reserve_price == 0.9


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
