"""Settings of the planner; it needs the market itself: ``daedalus.planning.lookahead``."""

from __future__ import annotations

from dataclasses import dataclass

from daedalus.designers.base import DesignerSettings


@dataclass
class PlannerSettings(DesignerSettings):
    """How far and how broadly to look ahead in forks of the true state.

    Attributes:
        candidates: Random mechanisms to choose from if no better ones are known.
        futures: Futures K that every candidate is played in, the same for all of a state.
        horizon: Steps that each future runs under the candidate.
        variations: Variants of the best so far, each with one field changed, in a round of local
            search.
        rounds: Rounds of local search; 0 only compares the candidates.
    """

    candidates: int = 64
    futures: int = 8
    horizon: int = 3
    variations: int = 16
    rounds: int = 2

    def __post_init__(self) -> None:
        for name in ("candidates", "futures", "horizon", "variations", "rounds"):
            least = 0 if name == "rounds" else 1
            if getattr(self, name) < least:
                raise ValueError(f"{name}: {getattr(self, name)}; give an integer from {least} up")
