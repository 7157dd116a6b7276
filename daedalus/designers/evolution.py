"""The best fixed mechanism that differential evolution finds."""

from __future__ import annotations

from dataclasses import dataclass

from daedalus.designers.base import DesignerContext, DesignerSettings
from daedalus.designers.fixed import FixedDesigner
from daedalus.search.budgets import EvolutionBudget


@dataclass
class EvolutionSettings(DesignerSettings, EvolutionBudget):
    """Budget of the evolution. The designer proposes the mechanism that evolution finds."""

    def build(self, context: DesignerContext) -> FixedDesigner:
        """Search, and return a designer that proposes the result."""
        from daedalus.search.evolution import evolve  # SciPy is slow to import

        return FixedDesigner(evolve(context.env, self, context.seed))
