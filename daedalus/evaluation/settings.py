"""What an evaluation is; light enough to import for ``--help``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class EvaluationSettings:
    """How many episodes are played and how their uncertainty is stated.

    Attributes:
        episodes: Episodes of each designer, the same markets for all, at least 2.
        confidence: Coverage of the bootstrap intervals, strictly between 0 and 1.
        resamples: Bootstrap resamples behind an interval, at least 100.
        baselines: Settings of the designers to compare with, by the name that tables show.

    Raises:
        ValueError: A number is out of range.
    """

    episodes: int = 30
    confidence: float = 0.95
    resamples: int = 9999
    baselines: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, least in (("episodes", 2), ("resamples", 100)):
            if getattr(self, name) < least:
                raise ValueError(f"{name}: {getattr(self, name)}; give an integer from {least} up")
        if not 0.0 < self.confidence < 1.0:
            raise ValueError(f"confidence: {self.confidence}; give a number between 0 and 1")
