"""The ends of a brief's score: random allowed mechanisms, and a search with the true parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from daedalus.design.briefs.brief import Brief, BriefScale
from daedalus.design.briefs.scoring import EPISODES, broken_rules, mean_terms, objective
from daedalus.design.briefs.search import search
from daedalus.design.env import DesignEnv
from daedalus.design.search.space import random_mechanisms
from daedalus.market.mechanism import Mechanisms
from daedalus.market.seeds import generator

_RANDOM = 64  # random allowed mechanisms, one for each future
_LEAST_SPAN = 0.05
"""A brief under which search and chance are nearer than this says nothing about a designer."""


@dataclass(frozen=True)
class Measured:
    """Measures the ends of briefs.

    Attributes:
        envs: Markets by the names of their bidders.
        seed: Seed of the futures.
    """

    envs: Mapping[str, DesignEnv]
    seed: int = 0
    _known: dict[str, BriefScale | None] = field(default_factory=dict)

    def __call__(self, brief: Brief) -> Brief | None:
        """Return a brief with its ends; None if search breaks a floor or hardly beats chance."""
        key = repr((brief.population, brief.reward, brief.allowed, brief.floors))
        if key not in self._known:
            self._known[key] = self._ends(brief)
        ends = self._known[key]
        return replace(brief, scale=ends) if ends else None

    def _ends(self, brief: Brief) -> BriefScale | None:
        env = self.envs[brief.population]
        best = search(brief.truth, env, self.seed)
        drawn = random_mechanisms(_RANDOM, generator(self.seed, "briefs/random"), goal=brief.goal)
        both = Mechanisms.stack([best, *(drawn[row] for row in range(len(drawn)))])
        terms = mean_terms(env, both, EPISODES, self.seed)
        reached = objective(terms, brief.reward)
        ceiling, floor = float(reached[0]), float(np.mean(reached[1:]))
        if ceiling - floor < _LEAST_SPAN or broken_rules(brief.goal, brief.floors, best, terms[0]):
            return None
        return BriefScale(round(floor, 6), round(ceiling, 6), best.to_dict())
