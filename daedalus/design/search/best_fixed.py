"""The best fixed mechanism: halving of random candidates, then sweeps of one field at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daedalus.design.search.budgets import SearchBudget
from daedalus.design.search.objective import Objective
from daedalus.design.search.space import LEVELS, FieldValues, random_mechanisms, variants
from daedalus.market.goal import ANYTHING, Goal
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.runs.phases import SEARCH, phase

Scores = Callable[[NDArray[np.intp], int], NDArray[np.float64]]
"""(Numbers of C candidates, episodes) to their scores, shape (C,)."""


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


@dataclass(frozen=True)
class Rung:
    """One rung of the halving.

    Attributes:
        candidates: Numbers of the C candidates, best first.
        scores: Their scores, in the same order, shape (C,).
        episodes: Episodes behind each score.
    """

    candidates: NDArray[np.intp]
    scores: NDArray[np.float64]
    episodes: int


def successive_halving(count: int, score: Scores, episodes: int, keep: int) -> Iterator[Rung]:
    """Yield the rungs of the halving until one candidate is left (Karnin, Koren & Somekh 2013).

    Args:
        count: Number of candidates in the first rung.
        score: Scores candidates, which are numbered from 0.
        episodes: Episodes behind each score in the first rung. Each rung multiplies them by
            ``keep``.
        keep: One of this many candidates survives a rung; at least 2.
    """
    alive = np.arange(count)
    while True:
        scores = score(alive, episodes)
        order = np.argsort(-scores, kind="stable")
        yield Rung(alive[order], scores[order], episodes)
        if len(alive) == 1:
            return
        alive = alive[order[: survivors(len(order), keep)]]
        episodes *= keep


def survivors(count: int, keep: int) -> int:
    """Return how many of ``count`` candidates survive a rung."""
    return max(1, count // keep)


def sweep(
    mechanism: Mechanism,
    score: Objective,
    sweeps: int,
    episodes: int,
    levels: FieldValues = LEVELS,
) -> Mechanism:
    """Set one field after the other to its best level.

    Args:
        mechanism: Where the search starts.
        score: What is maximised.
        sweeps: Most sweeps over all fields. A sweep that changes nothing ends the search.
        episodes: Episodes behind each score.
        levels: Values of each field that are tried.
    """
    for _ in range(sweeps):
        before = mechanism
        for name in FIELDS:
            candidates = [mechanism, *variants(mechanism, name, levels)]
            scores = score(Mechanisms.stack(candidates), episodes)
            mechanism = candidates[int(np.argmax(scores))]
        if mechanism == before:
            break
    return mechanism


def sweep_each_type(
    pools: Sequence[Mechanisms],
    score: Objective,
    sweeps: int,
    episodes: int,
    levels: FieldValues = LEVELS,
) -> list[Mechanism]:
    """Sweep from the best candidate of each auction type.

    A change of the auction type pays only together with changes of other fields. So one sweep
    starts from each auction type.

    Args:
        pools: Candidates, each pool sorted from best to worst. The first pool that has an auction
            type supplies its start.
        score: What is maximised.
        sweeps: See ``sweep``.
        episodes: See ``sweep``.
        levels: See ``sweep``.

    Returns:
        One mechanism for each auction type among the candidates.
    """
    starts: dict[int, Mechanism] = {}
    for pool in pools:
        types, first = np.unique(pool.auction_type, return_index=True)
        for auction_type, row in zip(types, first, strict=True):
            starts.setdefault(int(auction_type), pool[int(row)])
    return [sweep(starts[each], score, sweeps, episodes, levels) for each in sorted(starts)]
