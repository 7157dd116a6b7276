"""One mechanism at every step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.market.goal import nearest_allowed
from daedalus.market.mechanism import Mechanism, MechanismError, Mechanisms, mechanism_from_mapping
from daedalus.market.observation import Observation

BEST_FIXED = "best_fixed"
"""The name under which experiments play the best fixed mechanism beside designers."""


@dataclass
class FixedSettings(DesignerSettings):
    """Settings of the fixed designer.

    The baseline informed greedy is this designer with the hand-made mechanism of the published
    system.

    Attributes:
        mechanism: A ``Mechanism``, a mapping of its fields, or None for the default mechanism. The
            type is Any because a typed field could not refer to the group ``mechanism``.

    Raises:
        ValueError: It is no mapping, or one of its fields is unknown or out of range.
    """

    mechanism: Any = None

    def __post_init__(self) -> None:
        if isinstance(self.mechanism, Mechanism):
            return
        if not isinstance(self.mechanism, Mapping | None):
            raise ValueError(
                f"mechanism: {self.mechanism!r}; give its fields, such as "
                "mechanism.auction_type=first_price, or choose a file of conf/mechanism/ by "
                "designer=fixed mechanism=NAME"
            )
        try:
            self.mechanism = mechanism_from_mapping(self.mechanism or {})
        except MechanismError as error:
            raise ValueError(f"mechanism.{error}") from error

    def build(self, context: DesignerContext) -> FixedDesigner:
        """Return the designer."""
        return FixedDesigner(self.mechanism)


class FixedDesigner:
    """Proposes the same mechanism at every step, or the nearest that is allowed."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the mechanism for each market."""
        repeated = Mechanisms.repeat(self.mechanism, len(observations))
        return nearest_allowed(repeated, observations.goals)


def best_fixed(portfolio: Mechanisms) -> FixedDesigner:
    """Return the designer of the mechanism that is best by itself, the last of a portfolio."""
    return FixedDesigner(portfolio[len(portfolio) - 1])
