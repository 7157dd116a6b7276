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
from daedalus.planning.lookahead import compare_candidates, compare_continued
from daedalus.planning.refinement import refined_rules
from daedalus.planning.states import Explorer, Wanderer, mid_episode_states

_RAREST = 0.03  # share of states; a rule chosen less often is hardly learnt, and costs as much


@dataclass(frozen=True)
class Lessons:
    """What is seen of markets, and what each candidate would earn there.

    Attributes:
        observed: B markets in all, in batches.
        rewards: What M candidates earn there by looking ahead, shape (B, M): a mean of R, or a
            sum over the steps that are left.
        rules: The candidates.
    """

    observed: list[Observation]
    rewards: NDArray[np.float64]
    rules: Mechanisms

    @property
    def features(self) -> NDArray[np.float64]:
        """Return ``features`` of all markets, shape (B, F)."""
        return np.concatenate([features(each) for each in self.observed])

    def joined(self, observed: Observation, rewards: NDArray[np.float64]) -> Lessons:
        """Return these and another batch."""
        rewards = np.concatenate([self.rewards, rewards])
        return Lessons([*self.observed, observed], rewards, self.rules)


def gather_lessons(
    env: DesignEnv, candidates: Mechanisms, settings: DistilledSettings, seed: int
) -> Lessons:
    """Look ahead in states that the learner itself leads to (DAgger: Ross, Gordon & Bagnell 2011).

    In the first round the candidates are played at random. In every other, trees fitted to all
    lessons so far set the rules: a market under rules that suit it looks unlike one under others.
    Improvements then replace those lessons, which end a few steps ahead, by what the learner so far
    would earn to the end of the episode, again and again (policy iteration).

    Args:
        env: Where the states come from.
        candidates: Mechanisms to begin with, which are compared in every state, or refined before.
        settings: Refinements, rounds, improvements, and how much is compared in each.
        seed: What everything depends on.
    """
    half = replace(settings, rounds=max(1, settings.rounds // 2))
    for number in range(settings.refinements):
        purpose = f"refinement/{number}"
        lessons = _gather(env, candidates, half, seed, purpose)
        candidates = refined_rules(env, _fitted(lessons, seed), settings, seed, purpose)
    lessons = _gather(env, candidates, settings, seed, "lessons")
    return _improve(env, lessons, settings, seed) if settings.improvements else lessons


def _gather(
    env: DesignEnv, candidates: Mechanisms, settings: DistilledSettings, seed: int, purpose: str
) -> Lessons:
    lessons = _no_lessons(candidates)
    for number in tqdm(range(settings.rounds), purpose, leave=False, disable=None):
        player: Designer = Wanderer(candidates)
        if number:
            player = Explorer(_fitted(lessons, seed), candidates, settings.exploration)
        part = f"{purpose}/{number}"
        states = mid_episode_states(env, settings.states, seed, part, settings.horizon, player)
        rewards = compare_candidates(
            states, candidates, settings.futures, settings.horizon, seed, part
        )
        lessons = lessons.joined(states.observe(), rewards)
    return lessons


def _improve(env: DesignEnv, taught: Lessons, settings: DistilledSettings, seed: int) -> Lessons:
    """Return lessons, on the rules that matter, from what the learner would make of each."""
    taught = _on_rules_that_matter(taught, seed)
    rules, learner = taught.rules, _fitted(taught, seed)
    lessons = _no_lessons(rules)
    for number in tqdm(range(settings.improvements), "improvement", leave=False, disable=None):
        part = f"improvement/{number}"
        player = Explorer(learner, rules, settings.exploration)
        states = mid_episode_states(env, settings.states, seed, part, designer=player)
        worth = compare_continued(
            states, rules, settings.futures, settings.kept, learner, seed, part
        )
        lessons = lessons.joined(states.observe(), worth)
        learner = _fitted(lessons, seed)
    return lessons


def _on_rules_that_matter(lessons: Lessons, seed: int) -> Lessons:
    """Return what was learnt of rules that are chosen now and then, and of the last."""
    learner, count = _fitted(lessons, seed), len(lessons.rules)
    chosen = np.concatenate([learner.choose(each) for each in lessons.observed])
    shares = np.bincount(chosen, minlength=count) / len(chosen)
    matter = np.flatnonzero((shares >= _RAREST) | (np.arange(count) == count - 1))
    return Lessons(lessons.observed, lessons.rewards[:, matter], lessons.rules.take(matter))


def _no_lessons(rules: Mechanisms) -> Lessons:
    return Lessons([], np.empty((0, len(rules))), rules)


def distil(
    env: DesignEnv, candidates: Mechanisms, settings: DistilledSettings, seed: int
) -> Distilled:
    """Return trees fitted to lessons, see ``gather_lessons``."""
    return _fitted(gather_lessons(env, candidates, settings, seed), seed)


def _fitted(lessons: Lessons, seed: int) -> Distilled:
    return Distilled.fit(lessons.features, lessons.rewards, lessons.rules, seed)
