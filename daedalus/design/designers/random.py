"""A random mechanism at every step: the baseline that every designer must beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from daedalus.checks import one_of
from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.search.space import random_allowed
from daedalus.market.mechanism import Mechanisms
from daedalus.market.observation import Observation


@dataclass
class RandomSettings(DesignerSettings):
    """Settings of the random designer.

    Attributes:
        sampling: ``uniform`` covers the whole valid space. ``published`` draws reserves from 0 to
            0.5 only and reproduces the published baseline. The published system states no range:
            upper ends up to 0.6 reproduce its mean, and the whole range does not.
    """

    sampling: str = one_of(("uniform", "published"), "uniform")

    def build(self, context: DesignerContext) -> RandomDesigner:
        """Return the designer."""
        return RandomDesigner(self.sampling)


class RandomDesigner:
    """Draws every field anew at every step, uniformly and independently, of what is allowed."""

    def __init__(self, sampling: str = "uniform") -> None:
        self._sampling = sampling

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return one random mechanism for each market."""
        return random_allowed(len(observations), rng, observations.goals, self._sampling)
