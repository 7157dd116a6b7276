"""What looking ahead says of many markets, gathered where the designer that learns from it goes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from daedalus.designers.base import Designer
from daedalus.designers.planner import DistilledSettings
from daedalus.env import DesignEnv
from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Observation
from daedalus.planning.distilled import Distilled, features
from daedalus.planning.lookahead import compare_candidates
from daedalus.planning.refinement import refined_rules
from daedalus.planning.states import Explorer, Wanderer, mid_episode_states


@dataclass(frozen=True)
class Lessons:
    """What is seen of markets, and what each candidate would earn there.

    Attributes:
        observed: B markets in all, in batches.
        rewards: Look-ahead rewards of M candidates, shape (B, M).
        rules: The candidates.
    """

    observed: list[Observation]
    rewards: NDArray[np.float64]
    rules: Mechanisms

    @property
    def features(self) -> NDArray[np.float64]:
        """Return ``features`` of all markets, shape (B, F)."""
        return np.concatenate([features(each) for each in self.observed])


def gather_lessons(
    env: DesignEnv, candidates: Mechanisms, settings: DistilledSettings, seed: int
) -> Lessons:
    """Look ahead in states that the learner itself leads to (DAgger: Ross, Gordon & Bagnell 2011).

    In the first round the candidates are played at random. In every other, trees fitted to all
    lessons so far set the rules: a market under rules that suit it looks unlike one under others.

    Args:
        env: Where the states come from.
        candidates: Mechanisms to begin with, which are compared in every state, or refined before.
        settings: Refinements, rounds, states in each, futures and horizon of the comparison.
        seed: What everything depends on.
    """
    half = replace(settings, rounds=max(1, settings.rounds // 2))
    for number in range(settings.refinements):
        purpose = f"refinement/{number}"
        lessons = _gather(env, candidates, half, seed, purpose)
        candidates = refined_rules(env, _fitted(lessons, seed), settings, seed, purpose)
    return _gather(env, candidates, settings, seed, "lessons")


def _gather(
    env: DesignEnv, candidates: Mechanisms, settings: DistilledSettings, seed: int, purpose: str
) -> Lessons:
    lessons = Lessons([], np.empty((0, len(candidates))), candidates)
    for number in tqdm(range(settings.rounds), purpose, leave=False, disable=None):
        player: Designer = Wanderer(candidates)
        if number:
            player = Explorer(_fitted(lessons, seed), candidates, settings.exploration)
        part = f"{purpose}/{number}"
        states = mid_episode_states(env, settings.states, seed, part, settings.horizon, player)
        rewards = compare_candidates(
            states, candidates, settings.futures, settings.horizon, seed, part
        )
        observed = [*lessons.observed, states.observe()]
        lessons = Lessons(observed, np.concatenate([lessons.rewards, rewards]), candidates)
    return lessons


def distil(
    env: DesignEnv, candidates: Mechanisms, settings: DistilledSettings, seed: int
) -> Distilled:
    """Return trees fitted to lessons, see ``gather_lessons``."""
    return _fitted(gather_lessons(env, candidates, settings, seed), seed)


def _fitted(lessons: Lessons, seed: int) -> Distilled:
    return Distilled.fit(lessons.features, lessons.rewards, lessons.rules, seed)
