"""The best fixed mechanism that differential evolution finds."""

from __future__ import annotations

from dataclasses import dataclass

from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.search.budgets import EvolutionBudget


@dataclass
class EvolutionSettings(DesignerSettings, EvolutionBudget):
    """Budget of the evolution. The designer proposes the mechanism that evolution finds."""

    def build(self, context: DesignerContext) -> FixedDesigner:
        """Search, and return a designer that proposes the result."""
        from daedalus.design.search.evolution import evolve  # SciPy is slow to import

        return FixedDesigner(evolve(context.env, self, context.seed))
