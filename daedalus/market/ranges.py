"""Ranges from which each episode draws its size and the traits of its types."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

SIZES = ("bidders", "units")
"""Whole numbers of an episode that may vary."""

TRAITS = (
    "value_low", "value_high", "outside_option", "budget", "expected_surplus", "rivals",
    "learning_rate", "discretion",
)  # fmt: skip
"""Traits of a type that may vary."""

LOG_UNIFORM = ("rivals", "learning_rate")
"""Traits that are drawn evenly on a logarithmic scale; all others are uniform."""


@dataclass
class Ranges:
    """Least and greatest value of what episodes draw; None keeps the value of the population.

    Each episode draws its numbers of bidders and units, and each trait for each type. So all
    bidders of a type share its trait in an episode. Draws are uniform, or even on a logarithmic
    scale for ``rivals`` and ``learning_rate``. They depend on the episode's seed alone.

    Attributes:
        bidders: Range of the number of bidders, both ends included.
        units: Range of the number of units, both ends included.
        value_low: Range of the lower end of values.
        value_high: Range of the upper end of values.
        outside_option: Range of the surplus that a unit from elsewhere would give.
        budget: Range of the most that a bidder can pay in an episode, of types with a budget.
        expected_surplus: Range of the surplus that a bidder expects at first.
        rivals: Range of the number of rivals that a bidder expects at first.
        learning_rate: Range of the weight of a round in what a bidder learns.
        discretion: Range of the share of the collusion screens' power that a ring evades.

    Raises:
        ValueError: A range does not have two ends in order.
    """

    bidders: list[int] | None = None
    units: list[int] | None = None
    value_low: list[float] | None = None
    value_high: list[float] | None = None
    outside_option: list[float] | None = None
    budget: list[float] | None = None
    expected_surplus: list[float] | None = None
    rivals: list[float] | None = None
    learning_rate: list[float] | None = None
    discretion: list[float] | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            ends = getattr(self, each.name)
            if ends is not None and (len(ends) != 2 or not ends[0] <= ends[1]):
                raise ValueError(f"{each.name}: {ends}; give two numbers, the lower first")
            if ends is not None and each.name in LOG_UNIFORM and ends[0] <= 0.0:
                raise ValueError(f"{each.name}: {ends}; give two above 0: draws are log-uniform")

    def of(self, names: tuple[str, ...]) -> dict[str, list[float]]:
        """Return the ranges that are given, of ``SIZES`` or ``TRAITS``, by name."""
        given = {name: getattr(self, name) for name in names}
        return {name: ends for name, ends in given.items() if ends is not None}

    def at(self, names: tuple[str, ...], end: int) -> dict[str, Any]:
        """Return one end of each range that is given, by name.

        Args:
            names: ``SIZES`` or ``TRAITS``.
            end: 0 for the widest values, 1 for the narrowest; other ranges have their lower end at
                0 and their upper end at 1.
        """
        ends = self.of(names)
        return {name: each[end ^ (name == "value_high")] for name, each in ends.items()}

    @property
    def varies(self) -> bool:
        """Return whether anything varies."""
        return bool(self.of(SIZES + TRAITS))
