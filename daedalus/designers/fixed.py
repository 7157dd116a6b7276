"""One mechanism, whatever happens."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from daedalus.designers.base import DesignerSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.outcome import Observation


@dataclass
class FixedDesigner(DesignerSettings):
    """Proposes the same mechanism at every step.

    The informed-greedy baseline is this designer with the published hand-engineered mechanism.

    Attributes:
        mechanism: What it proposes.
    """

    mechanism: Mechanism = field(default_factory=Mechanism)

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the mechanism for each market."""
        return Mechanisms.repeat(self.mechanism, len(observations))
