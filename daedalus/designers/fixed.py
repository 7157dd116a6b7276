"""One mechanism, whatever happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from daedalus.designers.base import DesignerSettings
from daedalus.market.mechanism import Mechanism, Mechanisms, mechanism_from_mapping
from daedalus.market.outcome import Observation


@dataclass
class FixedDesigner(DesignerSettings):
    """Proposes the same mechanism at every step.

    The informed-greedy baseline is this designer with the published hand-engineered mechanism.

    Attributes:
        mechanism: What it proposes, a ``Mechanism`` or a mapping of its fields. (Any, since a
            config may refer to the group ``mechanism`` here, which a typed field does not allow.)

    Raises:
        MechanismError: A field of the mapping is unknown or out of range.
    """

    mechanism: Any = field(default_factory=Mechanism)

    def __post_init__(self) -> None:
        if isinstance(self.mechanism, Mapping):
            self.mechanism = mechanism_from_mapping(self.mechanism)

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the mechanism for each market."""
        return Mechanisms.repeat(self.mechanism, len(observations))
