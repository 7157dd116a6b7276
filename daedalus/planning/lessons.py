"""What looking ahead says of many markets, gathered where the designer that learns from it goes."""

from __future__ import annotations

from dataclasses import dataclass

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
from daedalus.planning.states import Explorer, Wanderer, mid_episode_states


@dataclass(frozen=True)
class Lessons:
    """What is seen of markets, and what each candidate would earn there.

    Attributes:
        observed: B markets in all, in batches.
        rewards: Look-ahead rewards of M candidates, shape (B, M).
    """

    observed: list[Observation]
    rewards: NDArray[np.float64]

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
        candidates: M mechanisms, which are compared in every state.
        settings: Rounds, states in each, futures and horizon of the comparison.
        seed: What everything depends on.
    """
    lessons = Lessons([], np.empty((0, len(candidates))))
    rounds = tqdm(range(settings.rounds), "lessons", leave=False, disable=None)
    for number in rounds:
        player: Designer = Wanderer(candidates)
        if number:
            learnt = Distilled.fit(lessons.features, lessons.rewards, candidates, seed)
            player = Explorer(learnt, candidates, settings.exploration)
        purpose = f"lessons/{number}"
        states = mid_episode_states(env, settings.states, seed, purpose, settings.horizon, player)
        rewards = compare_candidates(
            states, candidates, settings.futures, settings.horizon, seed, purpose
        )
        lessons = Lessons(
            [*lessons.observed, states.observe()], np.concatenate([lessons.rewards, rewards])
        )
    return lessons


def distil(
    env: DesignEnv, candidates: Mechanisms, settings: DistilledSettings, seed: int
) -> Distilled:
    """Return trees fitted to lessons, see ``gather_lessons``."""
    lessons = gather_lessons(env, candidates, settings, seed)
    return Distilled.fit(lessons.features, lessons.rewards, candidates, seed)
