"""A batch of strategic markets with several populations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from daedalus.market.composition import compose_population
from daedalus.market.learners import first_tables
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import Population
from daedalus.market.strategic import StrategicMarket, type_columns


class SideBySideMarket(StrategicMarket):
    """The strategic market, for several populations at once.

    Each population gets an equal part of the batch: the first B / P episodes have the first
    population, and so on. Each episode has the same numbers as in a market with one population.

    Args:
        populations: P populations with the same number of bidders, units and stage.
        parameters: Constants of the market.

    Raises:
        ValueError: The populations differ in more than their types.
    """

    def __init__(
        self, populations: Sequence[Population], parameters: StrategicParameters | None = None
    ) -> None:
        if len({(each.bidders, each.units, each.stage) for each in populations}) != 1:
            raise ValueError("populations: give at least one, with equal bidders, units and stage")
        super().__init__(populations[0], parameters)
        self._populations = list(populations)
        types = [list(each.types.values()) for each in populations]
        self._first_types = np.cumsum([0, *(len(each) for each in types[:-1])])
        self._bidder_types = [each for some in types for each in some]
        self._types = np.concatenate([type_columns(each) for each in types])  # rings from 0 in each
        self._first_tables = first_tables(self._bidder_types)
        self._rings = int(self._types["ring"].max()) + 1

    def _compose(self, seeds: NDArray[np.uint64]) -> NDArray[np.integer]:
        if len(seeds) % len(self._populations):
            raise ValueError(
                f"{len(seeds)} episodes for {len(self._populations)} populations; "
                "give each population the same number"
            )
        parts = np.split(seeds, len(self._populations))
        kinds = [
            first + compose_population(each, part)
            for first, each, part in zip(self._first_types, self._populations, parts, strict=True)
        ]
        return np.concatenate(kinds)
