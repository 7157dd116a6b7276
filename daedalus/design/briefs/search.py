"""The search for the best mechanism under an understanding, and the ends of scores by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from daedalus.design.briefs.brief import Brief, BriefScale
from daedalus.design.briefs.clauses import Understanding
from daedalus.design.briefs.scoring import (
    EPISODES,
    SEED,
    broken_rules,
    mean_terms,
    objective,
    shortfall,
)
from daedalus.design.env import DesignEnv
from daedalus.design.search.best_fixed import best_fixed
from daedalus.design.search.budgets import SearchBudget
from daedalus.design.search.space import random_mechanisms
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import generator

BUDGET = SearchBudget(candidates=256, episodes=4, keep=4, sweeps=2, sweep_episodes=32)
"""The budget behind all ceilings of the benchmark: about a second on two cores."""
_MARGIN = 0.02  # floors are checked on other futures than those of the search
_PRICE = 10.0  # of falling short of a floor by 1, for each unit of weight, at least one
_RANDOM = 64  # random allowed mechanisms, one for each future
_LEAST_SPAN = 0.05
"""A brief under which search and chance are nearer than this says nothing about a designer."""


def worth(
    terms: NDArray[np.float64], reward: Mapping[str, float], floors: Mapping[str, float]
) -> NDArray[np.float64]:
    """Return the objective of B mechanisms, less a price for falling short of floors, shape (B,).

    Args:
        terms: Their means of ``TERMS``, shape (B, T).
        reward: Weights of terms.
        floors: Least means by term; a margin is kept, since other futures check them.
    """
    price = _PRICE * max(1.0, sum(reward.values()))
    return objective(terms, reward) - price * shortfall(terms, floors, _MARGIN)


def search(
    understood: Understanding, env: DesignEnv, seed: int = 0, budget: SearchBudget = BUDGET
) -> Mechanism:
    """Return the best mechanism that a search finds among those that keep the rules.

    What ``env`` allows does not matter.
    """
    free = replace(env, allowed={}, brief="")

    def score(mechanisms: Mechanisms, episodes: int) -> NDArray[np.float64]:
        terms = mean_terms(free, mechanisms, episodes, seed, "search")
        return worth(terms, understood.reward, understood.floors)

    return best_fixed(budget, score, generator(seed, "briefs/search"), understood.goal())[0]


@dataclass(frozen=True)
class Measured:
    """Measures the ends of briefs: random allowed mechanisms, and a search with the true parts.

    Attributes:
        envs: Markets by the names of their bidders.
    """

    envs: Mapping[str, DesignEnv]
    _known: dict[str, BriefScale | str] = field(default_factory=dict)

    def __call__(self, brief: Brief) -> Brief | None:
        """Return a brief with its ends; None if there are none, see ``why_none``."""
        ends = self._measured(brief)
        return replace(brief, scale=ends) if isinstance(ends, BriefScale) else None

    def why_none(self, brief: Brief) -> str:
        """Return why a brief has no ends: search breaks a floor, or hardly beats chance."""
        ends = self._measured(brief)
        return ends if isinstance(ends, str) else ""

    def _measured(self, brief: Brief) -> BriefScale | str:
        key = repr((brief.population, brief.reward, brief.allowed, brief.floors))
        if key not in self._known:
            self._known[key] = self._ends(brief)
        return self._known[key]

    def _ends(self, brief: Brief) -> BriefScale | str:
        env = self.envs[brief.population]
        best = search(brief.truth, env, SEED)
        drawn = random_mechanisms(_RANDOM, generator(SEED, "briefs/random"), goal=brief.goal)
        both = Mechanisms.stack([best, *(drawn[row] for row in range(len(drawn)))])
        terms = mean_terms(env, both, EPISODES, SEED)
        reached = objective(terms, brief.reward)
        ceiling, floor = float(reached[0]), float(np.mean(reached[1:]))
        if broken := broken_rules(brief, best, terms[0]):
            return f"the best mechanism that a search found breaks a floor ({'; '.join(broken)})"
        if ceiling - floor < _LEAST_SPAN:
            return "the best mechanism that a search found is hardly better than chance"
        return BriefScale(round(floor, 6), round(ceiling, 6), best.to_dict())
