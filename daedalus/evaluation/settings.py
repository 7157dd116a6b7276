"""Settings of evaluations; this module imports fast, because ``--help`` needs it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from daedalus.checks import Checked, above, at_least, bounded
from daedalus.market.population import BidderType

TRAITS = ("discretion", "expected_surplus", "learning_rate", "outside_option")
"""Traits of bidders that an adversary chooses, see ``AdversarySettings``."""


@dataclass
class EvaluationSettings(Checked):
    """Number of episodes, and settings of the intervals.

    Attributes:
        episodes: Episodes of each designer, at least 2. All designers play the same markets.
        confidence: Coverage of the intervals, above 0 and below 1.
        resamples: Bootstrap resamples of an interval over episodes, at least 100. Intervals of
            fewer than 20 or more than 1,000 episodes need none.
        shards: Parts of the populations of a leaderboard, one for each job of a sweep.
        shard: The part that this job plays, from 0 up.
        baselines: Settings of the designers to compare with, by the name that tables show.

    Raises:
        ValueError: A number is out of range.
    """

    episodes: int = at_least(2, 30, "an integer")
    confidence: float = bounded(0.95, lambda share: 0 < share < 1, "give a number between 0 and 1")
    resamples: int = at_least(100, 9999, "an integer")
    shards: int = at_least(1, 1)
    shard: int = 0
    baselines: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.shard < self.shards:
            raise ValueError(f"shard: {self.shard}; give an integer from 0 to {self.shards - 1}")


@dataclass
class AdversarySettings(Checked):
    """The compositions that an adversary may choose, and the budget of its search.

    Types, menus and values are those of the training population. The adversary chooses the number
    of bidders of each type, and four traits, each one number for all bidders. By default the bounds
    of the traits are the range of the populations in ``conf/``.

    Attributes:
        candidates: Number of compositions in the first rung of the search.
        episodes: Episodes of each composition in the first rung.
        keep: In each rung, one of this many compositions survives. The next rung plays this many
            times as many episodes.
        concentration: Sum of the Dirichlet parameters of the shares. All types have the same
            parameter. If the sum is below their number, most compositions have few types.
        discretion: Least and greatest share of the screens' power that rings evade.
        expected_surplus: Least and greatest surplus that bidders expect at first from a round.
        learning_rate: Least and greatest weight of a round in what bidders learn about bids.
        outside_option: Least and greatest surplus of a unit from elsewhere, for ``withdraw``.

    Raises:
        ValueError: A number is out of range.
    """

    candidates: int = at_least(1, 128)
    episodes: int = at_least(1, 4)
    keep: int = at_least(2, 4)
    concentration: float = above(0, 1.0)
    discretion: list[float] = field(default_factory=lambda: [0.0, 0.8])
    expected_surplus: list[float] = field(default_factory=lambda: [0.03, 0.05])
    learning_rate: list[float] = field(default_factory=lambda: [0.05, 0.15])
    outside_option: list[float] = field(default_factory=lambda: [0.0, 0.25])

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in TRAITS:
            bounds = getattr(self, name)
            if len(bounds) != 2 or bounds[0] > bounds[1]:
                raise ValueError(f"{name}: {bounds}; give the least and the greatest, [low, high]")
            for end in bounds:
                BidderType(**{name: end})  # checks the bound
