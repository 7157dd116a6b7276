"""What looking ahead says of many markets, gathered where the designer that learns from it goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from daedalus.designers.base import Designer
from daedalus.designers.planner import DistilledSettings
from daedalus.env import DesignEnv
from daedalus.files import written_whole
from daedalus.market.mechanism import FIELDS, Mechanisms
from daedalus.market.outcome import Observation
from daedalus.planning.distilled import Distilled, features
from daedalus.planning.lookahead import Successor, compare_candidates, compare_continued
from daedalus.planning.refinement import refined_rules
from daedalus.planning.states import Explorer, Wanderer, mid_episode_states

_RAREST = 0.03  # share of states; a rule chosen less often is hardly learnt, and costs as much


@dataclass(frozen=True)
class Lessons:
    """What is seen of markets, and what each candidate would earn there.

    Attributes:
        seen: ``features`` of B markets, shape (B, F).
        rewards: What M candidates earn there by looking ahead, shape (B, M): a mean of R, or a
            sum over the steps that are left.
        rules: The candidates.
    """

    seen: NDArray[np.float64]
    rewards: NDArray[np.float64]
    rules: Mechanisms

    def joined(self, observed: Observation, rewards: NDArray[np.float64]) -> Lessons:
        """Return these and another batch."""
        seen = features(observed)
        if len(self.seen):
            seen = np.concatenate([self.seen, seen])
        return Lessons(seen, np.concatenate([self.rewards, rewards]), self.rules)


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
            states, rules, settings.futures, Successor(learner, settings.kept), seed, part
        )
        lessons = lessons.joined(states.observe(), worth)
        learner = _fitted(lessons, seed)
    return lessons


def _on_rules_that_matter(lessons: Lessons, seed: int) -> Lessons:
    """Return what was learnt of rules that are chosen now and then, and of the last."""
    learner, count = _fitted(lessons, seed), len(lessons.rules)
    chosen = learner.expected(lessons.seen).argmax(axis=1)
    shares = np.bincount(chosen, minlength=count) / len(chosen)
    matter = np.flatnonzero((shares >= _RAREST) | (np.arange(count) == count - 1))
    return Lessons(lessons.seen, lessons.rewards[:, matter], lessons.rules.take(matter))


def _no_lessons(rules: Mechanisms) -> Lessons:
    return Lessons(np.empty((0, 0)), np.empty((0, len(rules))), rules)


def distil(
    env: DesignEnv, candidates: Mechanisms, settings: DistilledSettings, seed: int
) -> Distilled:
    """Return trees fitted to lessons: those of a file, or what ``gather_lessons`` finds."""
    return _fitted(_found(env, candidates, settings, seed), seed)


def teacher(
    env: DesignEnv, candidates: Mechanisms, settings: DistilledSettings, out: Path, seed: int
) -> Distilled:
    """Return what ``distil`` does; the run's folder ``out`` keeps the lessons.

    If a lessons.npz is there already, it is learnt from, whatever it was gathered with.
    """
    kept = out / "lessons.npz"
    if not kept.exists():
        write_lessons(_found(env, candidates, settings, seed), kept)
    return _fitted(read_lessons(kept), seed)


def _found(
    env: DesignEnv, candidates: Mechanisms, settings: DistilledSettings, seed: int
) -> Lessons:
    if settings.lessons:
        return read_lessons(Path(settings.lessons))
    return gather_lessons(env, candidates, settings, seed)


def write_lessons(lessons: Lessons, path: Path) -> None:
    """Write lessons to an .npz file."""
    columns = {name: getattr(lessons.rules, name) for name in FIELDS}
    with written_whole(path) as aside:
        np.savez_compressed(aside, seen=lessons.seen, rewards=lessons.rewards, **columns)


def read_lessons(path: Path) -> Lessons:
    """Return what ``write_lessons`` wrote."""
    with np.load(path) as file:
        rules = Mechanisms(**{name: file[name] for name in FIELDS})
        return Lessons(file["seen"], file["rewards"], rules)


def _fitted(lessons: Lessons, seed: int) -> Distilled:
    return Distilled.fit(lessons.seen, lessons.rewards, lessons.rules, seed)
