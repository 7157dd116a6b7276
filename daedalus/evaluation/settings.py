"""What an evaluation is; light enough to import for ``--help``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from daedalus.checks import require_at_least
from daedalus.market.population import BidderType

TRAITS = ("discretion", "expected_surplus", "learning_rate", "outside_option")
"""What an adversary chooses beside who comes, see ``AdversarySettings``."""


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


@dataclass
class AdversarySettings:
    """Whom an adversary may send to a designer, and how long it searches.

    The types, their menus and values are those of the training population. The adversary chooses
    the number of seats of each type, and four traits, each one number for all bidders. The bounds
    of the traits are the range that the populations in ``conf/population/`` span.

    Attributes:
        candidates: Compositions in the first rung of the search.
        episodes: Episodes each is played for in the first rung.
        keep: Of how many compositions one survives a rung, on this many times the episodes.
        concentration: Sum of the Dirichlet parameters of the candidates' shares, equal for all
            types: below their number, few types share the market.
        discretion: Least and greatest share of the screens' power that rings evade.
        expected_surplus: The same of the surplus of a round that bidders expect at first.
        learning_rate: The same of the weight of a round in what they learn about bidding.
        outside_option: The same of what a unit from elsewhere would gain those who withdraw.

    Raises:
        ValueError: A number is out of range.
    """

    candidates: int = 128
    episodes: int = 4
    keep: int = 4
    concentration: float = 1.0
    discretion: list[float] = field(default_factory=lambda: [0.0, 0.8])
    expected_surplus: list[float] = field(default_factory=lambda: [0.03, 0.05])
    learning_rate: list[float] = field(default_factory=lambda: [0.05, 0.15])
    outside_option: list[float] = field(default_factory=lambda: [0.0, 0.25])

    def __post_init__(self) -> None:
        require_at_least(1, self, "candidates", "episodes")
        require_at_least(2, self, "keep")
        if not 0.0 < self.concentration < math.inf:
            raise ValueError(f"concentration: {self.concentration}; give a finite number above 0")
        for name in TRAITS:
            bounds = getattr(self, name)
            if len(bounds) != 2 or bounds[0] > bounds[1]:
                raise ValueError(f"{name}: {bounds}; give the least and the greatest, [low, high]")
            for end in bounds:
                BidderType(**{name: end})  # its own check of what a bidder can be
