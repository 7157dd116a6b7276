"""Distillation: look-ahead in many markets, in states to which the learner leads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from daedalus.design.env import DesignEnv, Designer, Episodes
from daedalus.design.search.best_fixed import sweep
from daedalus.design.search.budgets import DistillationBudget
from daedalus.design.search.features import observed_features
from daedalus.design.search.lookahead import ContinuationPolicy, LookAhead
from daedalus.design.search.objective import Objective
from daedalus.design.search.space import LEVELS
from daedalus.design.search.states import (
    EpsilonGreedyExplorer,
    RandomWalkDesigner,
    mid_episode_states,
)
from daedalus.design.search.trees import TreeDesigner
from daedalus.market.mechanism import FIELDS, Mechanisms
from daedalus.market.observation import Observation
from daedalus.runs.files import written_whole
from daedalus.runs.phases import LESSONS, phase

_RAREST = 0.03  # share of states; trees hardly learn rarer candidates, and look-ahead costs as much
_FEWEST = 64  # states that a mechanism is fitted to in a refinement
_SWEEPS = 2
_FUTURES = 2


@dataclass(frozen=True)
class DistillationData:
    """Features of markets, and the rewards of each candidate there.

    Attributes:
        features: ``observed_features`` of B markets, shape (B, F).
        rewards: What M candidates earn there by look-ahead, shape (B, M): a mean over steps, or a
            sum over the remaining steps.
        candidates: M mechanisms.
    """

    features: NDArray[np.float64]
    rewards: NDArray[np.float64]
    candidates: Mechanisms

    @classmethod
    def empty(cls, candidates: Mechanisms) -> DistillationData:
        """Return data of no market."""
        return cls(np.empty((0, 0)), np.empty((0, len(candidates))), candidates)

    def joined(self, observed: Observation, rewards: NDArray[np.float64]) -> DistillationData:
        """Return this data and another batch of markets."""
        features = observed_features(observed)
        if len(self.features):
            features = np.concatenate([self.features, features])
        return replace(self, features=features, rewards=np.concatenate([self.rewards, rewards]))

    def fitted(self, seed: int) -> TreeDesigner:
        """Return trees that are fitted to this data."""
        return TreeDesigner.fit(self.features, self.rewards, self.candidates, seed)

    def write(self, path: Path) -> None:
        """Write the data to an .npz file."""
        columns = {name: getattr(self.candidates, name) for name in FIELDS}
        with written_whole(path) as aside:
            np.savez_compressed(aside, features=self.features, rewards=self.rewards, **columns)

    @classmethod
    def read(cls, path: Path) -> DistillationData:
        """Read the file that ``write`` wrote."""
        with np.load(path) as file:
            candidates = Mechanisms(**{name: file[name] for name in FIELDS})
            return cls(file["features"], file["rewards"], candidates)


def gather_distillation_data(
    env: DesignEnv,
    candidates: Mechanisms,
    budget: DistillationBudget,
    seed: int,
) -> DistillationData:
    """Look ahead in states to which the learner leads (DAgger: Ross, Gordon & Bagnell 2011).

    A market under a suitable mechanism looks different from a market under another. So trees
    fitted to all data so far lead to the states of each round, except in the first round.

    This data looks a few steps ahead. Improvements replace it: after the candidate, the trees so
    far act until the episode ends. Each improvement uses the trees of the one before (policy
    iteration).

    Args:
        env: Where the states come from.
        candidates: Mechanisms that are compared in every state, or refined before.
        budget: Refinements, rounds, improvements, and the size of each.
        seed: Seed of the states, the futures and the trees.
    """
    gatherer = _Gatherer(env, budget, seed)
    half = replace(gatherer, budget=replace(budget, rounds=max(1, budget.rounds // 2)))
    for number in range(budget.refinements):
        purpose = f"refinement/{number}"
        learner = half.rounds(candidates, purpose).fitted(seed)
        candidates = refined_candidates(env, learner, budget, seed, purpose)
    data = gatherer.rounds(candidates, "lessons")
    return gatherer.improvements(data) if budget.improvements else data


@dataclass(frozen=True)
class _Gatherer:
    """Gathers distillation data in one environment. Purpose strings key the random streams."""

    env: DesignEnv
    budget: DistillationBudget
    seed: int

    @property
    def look_ahead(self) -> LookAhead:
        return LookAhead(self.budget.futures, self.seed)

    def rounds(self, candidates: Mechanisms, purpose: str) -> DistillationData:
        """Return the data of all rounds: look-ahead over the budget's horizon."""
        budget, data = self.budget, DistillationData.empty(candidates)
        for number in tqdm(range(budget.rounds), purpose, leave=False, disable=None):
            player: Designer = RandomWalkDesigner(candidates)
            if number:
                player = self.exploring(data.fitted(self.seed))
            part = f"{purpose}/{number}"
            states = mid_episode_states(
                self.env, budget.states, self.seed, part, budget.horizon, player
            )
            rewards = self.look_ahead.compare(states, candidates, budget.horizon, part)
            data = data.joined(states.observe(), rewards)
        return data

    def improvements(self, data: DistillationData) -> DistillationData:
        """Return data on the candidates in use: look-ahead to the end of the episode."""
        budget, seed = self.budget, self.seed
        data = _on_candidates_in_use(data, seed)
        learner, improved = data.fitted(seed), DistillationData.empty(data.candidates)
        for number in tqdm(range(budget.improvements), "improvement", leave=False, disable=None):
            part = f"improvement/{number}"
            states = mid_episode_states(
                self.env, budget.states, seed, part, designer=self.exploring(learner)
            )
            continuation = ContinuationPolicy(learner, budget.commitment_steps)
            rewards = self.look_ahead.compare_continued(states, data.candidates, continuation, part)
            improved = improved.joined(states.observe(), rewards)
            learner = improved.fitted(seed)
        return improved

    def exploring(self, learner: TreeDesigner) -> EpsilonGreedyExplorer:
        return EpsilonGreedyExplorer(learner, learner.candidates, self.budget.exploration)


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
            score = _mean_in(states.fork(rows), budget.horizon, seed, purpose)
            refined.append(sweep(candidates[number], score, _SWEEPS, _FUTURES, levels))
    return env.goal.nearest(Mechanisms.distinct([*refined, candidates[len(candidates) - 1]]))


def _mean_in(states: Episodes, horizon: int, seed: int, purpose: str) -> Objective:
    """Return the mean reward over given states and their futures, which stand for episodes."""

    def score(mechanisms: Mechanisms, futures: int) -> NDArray[np.float64]:
        rewards = LookAhead(futures, seed).compare(states, mechanisms, horizon, purpose)
        return np.asarray(rewards.mean(axis=0))

    return score


def _on_candidates_in_use(data: DistillationData, seed: int) -> DistillationData:
    """Return the data on candidates that are chosen often enough, and on the last candidate."""
    count = len(data.candidates)
    chosen = data.fitted(seed).advantages(data.features).argmax(axis=1)
    shares = np.bincount(chosen, minlength=count) / len(chosen)
    used = np.flatnonzero((shares >= _RAREST) | (np.arange(count) == count - 1))
    return DistillationData(data.features, data.rewards[:, used], data.candidates.take(used))


@phase(LESSONS)
def distil(
    env: DesignEnv,
    candidates: Mechanisms,
    budget: DistillationBudget,
    seed: int,
    keep: Path | None = None,
) -> TreeDesigner:
    """Return trees fitted to distillation data.

    Args:
        env: Where data is gathered, unless ``budget.data`` names a file of it.
        candidates: Mechanisms to choose from, see ``gather_distillation_data``.
        budget: How much data.
        seed: Seed of the data and the trees.
        keep: File for the data. If it exists, the trees are fitted to it, and the budget is not
            used.
    """
    if keep is not None and keep.exists():
        return DistillationData.read(keep).fitted(seed)
    if budget.data:
        data = DistillationData.read(Path(budget.data))
        data = replace(data, candidates=env.goal.nearest(data.candidates))
    else:
        data = gather_distillation_data(env, candidates, budget, seed)
    if keep is not None:
        data.write(keep)
    return data.fitted(seed)
