"""A batch of strategic markets with several populations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from daedalus.market.lineup import Lineup, draw_lineup
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import Population
from daedalus.market.strategic import StrategicMarket, type_columns


class SideBySideMarket(StrategicMarket):
    """The strategic market, for several populations at once.

    Each population gets an equal part of the batch: the first B / P episodes have the first
    population, and so on. Each episode has the same numbers as in a market with one population.

    Args:
        populations: P populations of the same stage. They may differ in size.
        parameters: Constants of the market.

    Raises:
        ValueError: There is no population, or their stages differ.
    """

    def __init__(
        self, populations: Sequence[Population], parameters: StrategicParameters | None = None
    ) -> None:
        if len({each.stage for each in populations}) != 1:
            raise ValueError("populations: give at least one, and all of the same stage")
        super().__init__(populations[0], parameters)
        self._populations = list(populations)
        types = [list(each.types.values()) for each in populations]
        self._first_types = np.cumsum([0, *(len(each) for each in types[:-1])])
        self._bidder_types = [each for some in types for each in some]
        self._types = np.concatenate([type_columns(each) for each in types])  # rings from 0 in each
        self._seats = max(each.most_bidders for each in populations)
        self._rings = int(self._types["ring"].max()) + 1

    def _draw_lineup(self, seeds: NDArray[np.uint64]) -> Lineup:
        if len(seeds) % len(self._populations):
            raise ValueError(
                f"{len(seeds)} episodes for {len(self._populations)} populations; "
                "give each population the same number"
            )
        parts = np.split(seeds, len(self._populations))
        lineups = [draw_lineup(*each) for each in zip(self._populations, parts, strict=True)]
        return Lineup.side_by_side(lineups, self._first_types.tolist())
