"""What a designer is."""

from __future__ import annotations

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


@dataclass
class DesignerSettings:
    """Root of the designers' configuration; each file in ``conf/designer/`` is one subclass.

    Attributes:
        name: What tables and figures call the designer.
    """

    name: str = field(default="designer", kw_only=True)
