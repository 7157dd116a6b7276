"""The best fixed mechanism: halving of random candidates, then sweeps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from daedalus.design.search.budgets import SearchBudget
from daedalus.design.search.halving import Rung, successive_halving
from daedalus.design.search.objective import Objective
from daedalus.design.search.space import LEVELS, random_mechanisms
from daedalus.design.search.sweep import sweep_each_type
from daedalus.market.goal import ANYTHING, Goal
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.runs.phases import SEARCH, phase


@phase(SEARCH)
def best_fixed(
    budget: SearchBudget, score: Objective, rng: np.random.Generator, goal: Goal = ANYTHING
) -> tuple[Mechanism, list[Rung]]:
    """Search for the mechanism with the highest score.

    Args:
        budget: How many candidates and episodes.
        score: What is maximised.
        rng: Draws the candidates.
        goal: It allows the candidates.

    Returns:
        The best mechanism, and the rungs of the halving.
    """
    pool = random_mechanisms(budget.candidates, rng, goal=goal)
    rungs = list(
        successive_halving(
            len(pool),
            lambda alive, episodes: score(pool.take(alive), episodes),
            budget.episodes,
            budget.keep,
        )
    )
    best = pool[int(rungs[-1].candidates[0])]
    if budget.sweeps == 0:
        return best, rungs
    pools = [pool.take(rung.candidates) for rung in reversed(rungs)]
    levels = goal.settings(LEVELS)
    swept = sweep_each_type(pools, score, budget.sweeps, budget.sweep_episodes, levels)
    return _best_of([best, *swept], score, 8 * budget.sweep_episodes), rungs


def best_of_candidates(
    candidates: Sequence[Mechanism],
    score: Objective,
    sweeps: int,
    episodes: int,
    goal: Goal = ANYTHING,
) -> Mechanism:
    """Return the best mechanism that sweeps find from given candidates.

    Args:
        candidates: At least one mechanism.
        score: What is maximised.
        sweeps: Most sweeps from the best candidate of each auction type.
        episodes: Episodes behind each score of a sweep. The last comparison has four times as many.
        goal: It allows the candidates and what is tried.
    """
    pool = Mechanisms.stack(candidates)
    order = np.argsort(-score(pool, episodes), kind="stable")
    swept = sweep_each_type([pool.take(order)], score, sweeps, episodes, goal.settings(LEVELS))
    return _best_of(swept, score, 4 * episodes)


def _best_of(candidates: list[Mechanism], score: Objective, episodes: int) -> Mechanism:
    scores = score(Mechanisms.stack(candidates), episodes)
    return candidates[int(np.argmax(scores))]
