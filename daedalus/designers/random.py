"""Uniform-random mechanisms: the floor that every designer must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from daedalus.designers.base import DesignerSettings
from daedalus.market.mechanism import CHOICES, FLAGS, RANGES, Mechanisms
from daedalus.market.outcome import Observation

SAMPLINGS = ("uniform", "published")
_PUBLISHED_RESERVE_HIGH = 0.5


@dataclass
class RandomDesigner(DesignerSettings):
    """Draws every field anew at every step, uniformly and independently.

    Attributes:
        sampling: ``uniform`` covers the whole valid space. ``published`` draws the reserve from 0
            to 0.5 only, which gives the mean of the published baseline. (Its range was not
            published; any upper end up to 0.6 gives that mean, and the whole range does not.)
    """

    sampling: str = "uniform"

    def __post_init__(self) -> None:
        if self.sampling not in SAMPLINGS:
            raise ValueError(f"sampling: {self.sampling!r}; choose {' or '.join(SAMPLINGS)}")

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return one random mechanism for each market."""
        return random_mechanisms(len(observations), rng, self.sampling)


def random_mechanisms(
    count: int, rng: np.random.Generator, sampling: str = "uniform"
) -> Mechanisms:
    """Draw ``count`` mechanisms, see ``RandomDesigner``."""
    columns: dict[str, Any] = {
        name: rng.integers(len(words), size=count) for name, words in CHOICES.items()
    }
    for name, (low, high) in RANGES.items():
        narrowed = sampling == "published" and name == "reserve_price"
        columns[name] = rng.uniform(low, _PUBLISHED_RESERVE_HIGH if narrowed else high, size=count)
    for name in FLAGS:
        columns[name] = rng.random(count) < 0.5
    return Mechanisms(**columns)
