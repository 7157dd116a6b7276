"""Trees that predict from observations which candidate is best, fitted to look-ahead."""

from __future__ import annotations

from dataclasses import dataclass

from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.designers.purpose import Purpose, read_purpose
from daedalus.design.env import Designer
from daedalus.design.search.budgets import DistillationBudget


@dataclass
class DistilledSettings(DesignerSettings, DistillationBudget):
    """Budget of the distillation. The designer proposes the trees' choice."""

    @property
    def purpose(self) -> Purpose | None:
        """Return what the trees of ``data`` were gathered for; None if its run is not here."""
        return read_purpose(self.data) if self.data else None

    def build(self, context: DesignerContext) -> Designer:
        """Gather the data, fit the trees, and return them."""
        from daedalus.design.search.distillation import distil  # scikit-learn is slow to import

        candidates = context.candidates(self.candidates)
        return distil(context.env, candidates, self, context.seed)
