"""The moves of an adversary, as in ``exploitability``: who comes to an episode."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from daedalus.evaluation.settings import TRAITS, AdversarySettings
from daedalus.market.population import Population


@dataclass(frozen=True)
class Moves:
    """What an adversary may choose: the number of bidders of each type, and traits of all bidders.

    A composition has the bidders and units that the population names, and draws nothing.

    Attributes:
        population: Its types are recombined; its shares do not matter.
        space: Bounds of the traits; its other settings are those of a search.
    """

    population: Population
    space: AdversarySettings = field(default_factory=AdversarySettings)

    def composition(self, bidders: Mapping[str, int], traits: Mapping[str, float]) -> Population:
        """Return the population of a move.

        Args:
            bidders: Number of bidders of each type; types that are left out do not come.
            traits: Each of ``TRAITS``.

        Raises:
            ValueError: There is no such type or trait, a trait is missing or out of bounds, or the
                numbers are no integers from 0 up that sum to the population's.
        """
        self._check(bidders, traits)
        chosen: dict[str, Any] = dict(traits)
        types = {
            name: dataclasses.replace(each, share=float(bidders.get(name, 0)), **chosen)
            for name, each in self.population.types.items()
        }
        return self.population.fixed(types, self.population.bidders, self.population.units)

    def _check(self, bidders: Mapping[str, Any], traits: Mapping[str, Any]) -> None:
        if others := bidders.keys() - self.population.types.keys():
            known = ", ".join(self.population.types)
            raise ValueError(f"bidders: no type {min(others)!r}; the types are {known}")
        whole = all(type(count) is int and count >= 0 for count in bidders.values())
        if not whole or sum(bidders.values()) != self.population.bidders:
            raise ValueError(
                f"bidders: {dict(bidders)}; give integers from 0 up that sum to "
                f"{self.population.bidders}"
            )
        if traits.keys() != set(TRAITS):
            raise ValueError(f"traits: {', '.join(traits)}; give {', '.join(TRAITS)}")
        for name, value in traits.items():
            low, high = getattr(self.space, name)
            if type(value) not in (int, float) or not low <= value <= high:
                raise ValueError(f"{name}: {value!r}; give a number from {low} to {high}")
