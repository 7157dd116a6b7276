"""Refinement: mechanisms are fitted to the states in which a designer chooses them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daedalus.design.env import DesignEnv, Episodes
from daedalus.design.search.budgets import DistillationBudget
from daedalus.design.search.lookahead import LookAhead
from daedalus.design.search.space import LEVELS
from daedalus.design.search.states import EpsilonGreedyExplorer, mid_episode_states
from daedalus.design.search.sweep import sweep
from daedalus.design.search.trees import TreeDesigner
from daedalus.market.mechanism import Mechanisms

_FEWEST = 64  # states that a mechanism is fitted to
_SWEEPS = 2
_FUTURES = 2


def refined_candidates(
    env: DesignEnv,
    learner: TreeDesigner,
    budget: DistillationBudget,
    seed: int,
    purpose: str,
) -> Mechanisms:
    """Sweep each candidate in the states in which a designer chooses it.

    The best response to one population is too special, because several populations can lead to
    the same observation. The best mechanism on average over such states is the one to choose
    (policy improvement within the regions of a policy: Howard 1960).

    Args:
        env: Where the states come from.
        learner: The designer that leads to them and chooses among its candidates.
        budget: Number of states, exploration, and the horizon of comparisons.
        seed: Seed of the states and the futures.
        purpose: Keys the states; another purpose gives other states.

    Returns:
        The refined candidates and, last, the last candidate unchanged. Candidates that are hardly
        ever chosen are left out.
    """
    candidates = learner.candidates
    player = EpsilonGreedyExplorer(learner, candidates, budget.exploration)
    states = mid_episode_states(env, budget.states, seed, purpose, budget.horizon, player)
    chosen = learner.choose(states.observe())
    refined, levels = [], env.goal.settings(LEVELS)
    for number in range(len(candidates)):
        rows = np.flatnonzero(chosen == number)
        if len(rows) >= _FEWEST:
            score = _StateObjective(states.fork(rows), budget.horizon, seed, purpose)
            refined.append(sweep(candidates[number], score, _SWEEPS, _FUTURES, levels))
    return env.goal.nearest(Mechanisms.distinct([*refined, candidates[len(candidates) - 1]]))


@dataclass(frozen=True)
class _StateObjective:
    """Mean reward over given states and their futures: the ``Objective`` of a refinement."""

    states: Episodes
    horizon: int
    seed: int
    purpose: str

    def __call__(self, mechanisms: Mechanisms, futures: int, /) -> NDArray[np.float64]:
        look_ahead = LookAhead(futures, self.seed)
        rewards = look_ahead.compare(self.states, mechanisms, self.horizon, self.purpose)
        return np.asarray(rewards.mean(axis=0))
