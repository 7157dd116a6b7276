"""One mechanism for all briefs: the one that breaks the rules of fewest training briefs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from daedalus.checks import at_least
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.design.briefs.generator import TRAINING
from daedalus.design.briefs.scoring import TERMS, mean_terms, shortfall
from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.search.space import random_mechanisms
from daedalus.market.seeds import generator


@dataclass
class RuleKeeperSettings(DesignerSettings):
    """A designer that reads no brief, and sets what most briefs allow.

    Attributes:
        candidates: Random mechanisms to choose from.
        briefs: Training briefs whose rules count.
        episodes: Episodes of each candidate, for floors; in the market that the designer expects.
    """

    per_population: ClassVar[bool] = True

    candidates: int = at_least(1, 2048)
    briefs: int = at_least(1, 1000)
    episodes: int = at_least(1, 8)

    def build(self, context: DesignerContext) -> FixedDesigner:
        """Return the designer of the mechanism that keeps all rules of most briefs."""
        pool = random_mechanisms(self.candidates, generator(context.seed, "briefs/rule_keeper"))
        terms = mean_terms(context.env, pool, self.episodes, context.seed, "search")
        kept = np.zeros(len(pool))
        for brief in frozen_briefs(TRAINING.name)[: self.briefs]:
            moved = brief.goal.nearest(pool)
            kept += (moved.rows == pool.rows) & (shortfall(terms, brief.floors) == 0.0)
        composite = terms[:, TERMS.index("composite")]
        return FixedDesigner(pool[int(np.lexsort((-composite, -kept))[0])])
