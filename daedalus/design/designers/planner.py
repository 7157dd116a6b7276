"""The planner as a designer. It sees the true state, so it is a reference, not a competitor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.env import Designer
from daedalus.design.search.budgets import PlannerBudget
from daedalus.design.search.planner import Planner


@dataclass
class PlannerSettings(DesignerSettings, PlannerBudget):
    """Budget of the planner, which looks ahead in forks of the true state."""

    per_population: ClassVar[bool] = True

    def build(self, context: DesignerContext) -> Designer:
        """Return the planner."""
        return Planner(context.candidates(self.candidates), self, context.seed)
