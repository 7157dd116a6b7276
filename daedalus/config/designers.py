"""The designers that ``conf/designer/`` can ask for."""

from __future__ import annotations

from daedalus.designers.base import DesignerSettings
from daedalus.designers.endpoint import EndpointSettings
from daedalus.designers.fixed import FixedDesigner
from daedalus.designers.heuristic import HeuristicDesigner
from daedalus.designers.language_model import LanguageModelSettings
from daedalus.designers.planner import DistilledSettings, EvolutionSettings, PlannerSettings
from daedalus.designers.random import RandomDesigner
from daedalus.designers.search import SearchDesigner

DESIGNERS: dict[str, type[DesignerSettings]] = {
    "random": RandomDesigner,
    "fixed": FixedDesigner,
    "heuristic": HeuristicDesigner,
    "search": SearchDesigner,
    "planner": PlannerSettings,
    "distilled": DistilledSettings,
    "evolution": EvolutionSettings,
    "language_model": LanguageModelSettings,
    "endpoint": EndpointSettings,
}
"""Settings class by name; a file asks for it as ``NAME_schema``."""
