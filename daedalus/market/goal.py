"""What a designer is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_COMPOSITE = {"composite": 1.0}


@dataclass(frozen=True)
class Goal:
    """What a designer is asked for in one market.

    Attributes:
        weights: Weights of reward terms by name; none if nobody said.
    """

    weights: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_usual(self) -> bool:
        """Return whether it is the composite reward R, which is also meant if nobody said."""
        return not self.weights or self.weights == _COMPOSITE
