"""The planner: look-ahead from the true state, which a designer cannot see."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from daedalus.design.env import Episodes
from daedalus.design.search.budgets import PlannerBudget
from daedalus.design.search.lookahead import LookAhead
from daedalus.design.search.space import LEVELS, with_one_field_redrawn
from daedalus.market.goal import Goal, by_allowed
from daedalus.market.mechanism import Mechanisms
from daedalus.market.observation import Observation
from daedalus.market.seeds import generator
from daedalus.runs.phases import SEARCH, phase


@phase(SEARCH)
def plan(
    states: Episodes, candidates: Mechanisms, budget: PlannerBudget, seed: int, purpose: str
) -> Mechanisms:
    """Return the best mechanism found for each state: the best candidate, then local search.

    Args:
        states: B paused episodes with at least one step left, which stay as they are.
        candidates: Mechanisms to choose from, moved to what the goal of a state allows.
        budget: How far and how broadly to look ahead. If an episode ends
            earlier, the horizon is shorter.
        seed: Seed of futures and variations.
        purpose: Keys the futures; another purpose gives other futures.
    """
    left = states.env.settings.episode_length - int(states.steps.max())
    budget = replace(budget, horizon=min(budget.horizon, left))
    groups = by_allowed(states.goal_of_each)
    if len(groups) == 1:
        return _plan_alike(states, candidates, budget, seed, purpose, groups[0][0])
    best = Mechanisms.repeat(candidates[0], len(states))
    for goal, rows in groups:
        part = _plan_alike(states.fork(rows), candidates, budget, seed, purpose, goal)
        best = best.replace(rows, part)
    return best


def _plan_alike(
    states: Episodes,
    candidates: Mechanisms,
    budget: PlannerBudget,
    seed: int,
    purpose: str,
    goal: Goal,
) -> Mechanisms:
    """Plan in states whose goals allow the same."""
    candidates, levels, horizon = goal.nearest(candidates), goal.settings(LEVELS), budget.horizon
    look_ahead = LookAhead(budget.futures, seed)
    rewards = look_ahead.compare(states, candidates, horizon, purpose)
    best = candidates.take(rewards.argmax(axis=1))
    rng = generator(seed, f"{purpose}/variations")
    count = budget.variations + 1
    rows = np.repeat(np.arange(len(best)), count)
    for number in range(budget.rounds):
        tried = with_one_field_redrawn(best.take(rows), rng, levels)
        tried = tried.replace(np.arange(0, len(rows), count), best)
        seeds = look_ahead.future_seeds(len(best), f"{purpose}/{number}")[rows]
        rewards = look_ahead.expected_rewards(states, rows, tried, seeds, horizon)
        winners = rewards.reshape(-1, count).argmax(axis=1)
        best = tried.take(np.arange(len(best)) * count + winners)
    return best


@dataclass
class Planner:
    """Looks ahead from the true state of the episodes that are being played.

    It is a strong reference, not an upper bound: its horizon and its candidates are limited. The
    futures of its seed differ from those of the episodes.
    """

    candidates: Mechanisms
    budget: PlannerBudget
    seed: int
    _episodes: Episodes | None = field(default=None, init=False)

    def watch(self, episodes: Episodes) -> None:
        """Take the episodes that the planner plays from now on."""
        self._episodes = episodes

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the best mechanism found for each market. The observations are not used.

        Raises:
            ValueError: The planner watches no episodes.
        """
        if self._episodes is None:
            raise ValueError("the planner sees no episodes; let Episodes.play ask it")
        purpose = f"planner/{self._episodes.steps.max()}"
        return plan(self._episodes, self.candidates, self.budget, self.seed, purpose)
