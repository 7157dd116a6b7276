"""The search for the best mechanism under an understanding: rules kept, floors reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from daedalus.design.briefs.clauses import Understanding
from daedalus.design.briefs.scoring import mean_terms, objective, shortfall
from daedalus.design.env import DesignEnv
from daedalus.design.search.best_fixed import best_fixed
from daedalus.design.search.budgets import SearchBudget
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import generator

BUDGET = SearchBudget(candidates=256, episodes=4, keep=4, sweeps=2, sweep_episodes=32)
"""The budget behind all ceilings of the benchmark: about a second on two cores."""
_MARGIN = 0.02  # floors are checked on other futures than those of the search
_PRICE = 10.0  # of falling short of a floor by 1, in units of the objective


@dataclass(frozen=True)
class RuleObjective:
    """Scores mechanisms by the aim, less a price for falling short of floors.

    Attributes:
        env: Where they are played.
        understood: What counts.
        seed: Seed of the run.
    """

    env: DesignEnv
    understood: Understanding
    seed: int

    def __call__(self, mechanisms: Mechanisms, episodes: int, /) -> NDArray[np.float64]:
        """Return the score of each of B mechanisms over ``episodes`` episodes, shape (B,)."""
        terms = mean_terms(self.env, mechanisms, episodes, self.seed, "search")
        return worth(terms, self.understood.reward, self.understood.floors)


def worth(
    terms: NDArray[np.float64], reward: Mapping[str, float], floors: Mapping[str, float]
) -> NDArray[np.float64]:
    """Return the objective of B mechanisms, less a price for falling short of floors, shape (B,).

    Args:
        terms: Their means of ``TERMS``, shape (B, T).
        reward: Weights of terms.
        floors: Least means by term; a margin is kept, since other futures check them.
    """
    return objective(terms, reward) - _PRICE * shortfall(terms, floors, _MARGIN)


def search(
    understood: Understanding, env: DesignEnv, seed: int = 0, budget: SearchBudget = BUDGET
) -> Mechanism:
    """Return the best mechanism that a search finds among those that keep the rules.

    Args:
        understood: Aim, rules and floors.
        env: The market of the bidders; what it allows does not matter.
        seed: Seed of the run.
        budget: Candidates and episodes.
    """
    free = replace(env, allowed={}, brief="")
    score = RuleObjective(free, understood, seed)
    goal = understood.goal()
    return best_fixed(budget, score, generator(seed, "briefs/search"), goal)[0]
