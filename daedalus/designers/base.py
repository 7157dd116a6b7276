"""What a designer is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from daedalus.market.mechanism import Mechanisms
from daedalus.market.outcome import Observation


class Designer(Protocol):
    """Proposes rules for a batch of markets."""

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return one mechanism for each of the B observed markets."""
        ...


def require_at_least(least: float, settings: object, *names: str) -> None:
    """Check numbers of some settings.

    Raises:
        ValueError: One of the named attributes is below ``least`` or not finite.
    """
    for name in names:
        value = getattr(settings, name)
        if not least <= value < math.inf:
            raise ValueError(f"{name}: {value}; give a finite number from {least} up")


@dataclass
class DesignerSettings:
    """Root of the designers' configuration; each file in ``conf/designer/`` is one subclass.

    Attributes:
        name: What tables and figures call the designer.
    """

    name: str = field(default="designer", kw_only=True)
