"""One mechanism at every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from daedalus.designers.base import DesignerContext, DesignerSettings
from daedalus.market.mechanism import Mechanism, Mechanisms, mechanism_from_mapping
from daedalus.market.observation import Observation


@dataclass
class FixedSettings(DesignerSettings):
    """Settings of the fixed designer.

    The baseline informed greedy is this designer with the hand-made mechanism of the published
    system.

    Attributes:
        mechanism: A ``Mechanism``, a mapping of its fields, or None for the default mechanism. The
            type is Any because a typed field could not refer to the group ``mechanism``.

    Raises:
        MechanismError: A field of the mapping is unknown or out of range.
    """

    mechanism: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, Mechanism):
            self.mechanism = mechanism_from_mapping(self.mechanism or {})

    def build(self, context: DesignerContext) -> FixedDesigner:
        """Return the designer."""
        return FixedDesigner(self.mechanism)


class FixedDesigner:
    """Proposes the same mechanism at every step."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the mechanism for each market."""
        return Mechanisms.repeat(self.mechanism, len(observations))
