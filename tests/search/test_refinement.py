"""Refined rules are fitted to the states in which they are chosen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.planning.test_distilled import SETTINGS, WALKERS, environment

from daedalus.designers.planner import DistilledSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.search.distillation import distil, gather_lessons
from daedalus.search.lookahead import compare_candidates
from daedalus.search.refinement import refined_rules
from daedalus.search.states import EpsilonGreedyExplorer, mid_episode_states

RULES = Mechanisms.stack(
    [
        Mechanism(reserve_price=0.0),
        Mechanism(reserve_price=0.8),
        Mechanism(auction_type="vcg", reserve_price=0.9),
    ]
)


def test_a_rule_is_swept_where_it_is_chosen_and_the_last_stays() -> None:
    env = environment(walkers=WALKERS)
    learnt = distil(env, RULES, SETTINGS, seed=0)
    refined = refined_rules(env, learnt, SETTINGS, 0, "refinement")
    first, last = refined[0], refined[len(refined) - 1]
    assert len(refined) == 2  # nobody chooses the others
    assert first.withdrawal_penalty > 0.0 and last == RULES[2]
    states = mid_episode_states(env, 300, 1, "x", 2, EpsilonGreedyExplorer(learnt, RULES, 0.1))
    pair = Mechanisms.stack([RULES[0], first])
    before, after = compare_candidates(states, pair, 4, 2, 1, "x").mean(axis=0)
    assert after > before + 0.02


def test_lessons_after_a_refinement_compare_the_refined_rules() -> None:
    env = environment(walkers=WALKERS)
    settings = replace(SETTINGS, refinements=1)
    lessons = gather_lessons(env, RULES, settings, seed=0)
    assert lessons.rewards.shape == (400, len(lessons.rules)) and len(lessons.rules) == 2
    assert len(lessons.seen) == SETTINGS.rounds * SETTINGS.states
    plain = gather_lessons(env, RULES, SETTINGS, seed=0)
    assert plain.rules is RULES
    assert lessons.rewards.max(axis=1).mean() > plain.rewards.max(axis=1).mean()
    again = gather_lessons(env, RULES, settings, seed=0)
    np.testing.assert_array_equal(lessons.rewards, again.rewards)


def test_a_negative_number_of_refinements_is_refused() -> None:
    with pytest.raises(ValueError, match="refinements: -1"):
        DistilledSettings(refinements=-1)


def test_distinct_rules_are_rounded_and_keep_the_last_of_equal_ones() -> None:
    near, same = Mechanism(reserve_price=0.123), Mechanism(reserve_price=0.12)
    other = Mechanism(shill_penalty=0.5)
    kept = Mechanisms.distinct([near, other, same])
    assert [kept[row] for row in range(len(kept))] == [other, same]
