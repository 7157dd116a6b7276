"""The best fixed mechanism that halving and sweeps find."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.search.best_fixed import best_fixed
from daedalus.design.search.budgets import SearchBudget
from daedalus.design.search.objective import EpisodeObjective
from daedalus.market.seeds import generator


@dataclass
class SearchSettings(DesignerSettings, SearchBudget):
    """Budget of the search. The designer proposes the mechanism that the search finds."""

    per_population: ClassVar[bool] = True

    def build(self, context: DesignerContext) -> FixedDesigner:
        """Search, and return a designer that proposes the result."""
        score = EpisodeObjective([context.env], context.seed)
        rng = generator(context.seed, "search")
        return FixedDesigner(best_fixed(self, score, rng, context.env.goal)[0])
