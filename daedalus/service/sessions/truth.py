"""What bidding one's value loses in one sale, under each format and reserve: the page's badge."""

from __future__ import annotations

import asyncio

import numpy as np

from daedalus.checks import CannotRunError
from daedalus.lab.theory.certificates import draw_values, groups_of, truthful_regret
from daedalus.lab.theory.formats import FORMATS_WITH_THEORY
from daedalus.market.literals import AuctionType
from daedalus.market.mechanism import RANGES, Mechanism
from daedalus.market.population import Population
from daedalus.market.seeds import generator
from daedalus.market.strategic import StrategicMarket
from daedalus.service.openenv.environment import DaedalusEnvironment
from daedalus.service.sessions.session_messages import Truth

_RESERVES = np.linspace(*RANGES["reserve_price"], 10).round(2).tolist()
_DRAWS = 2000


class Truths:
    """The answers for a server's populations. Each is computed once, and one at a time."""

    def __init__(self) -> None:
        self._known: dict[tuple[str | None, int], Truth] = {}
        self._lock = asyncio.Lock()  # many bidders take two seconds of one core

    async def of(self, environment: DaedalusEnvironment) -> Truth:
        """Return the mean ex-post regrets of truthful bids, see ``theory.certificates``.

        There are none in the classic market, none where each episode draws its bidders, and none
        of a format whose theory is not known.
        """
        market = environment.episode().env.market
        if not isinstance(market, StrategicMarket) or market.players:
            return Truth()
        key = environment.state.population, market.population.bidders
        async with self._lock:
            if key not in self._known:
                self._known[key] = await asyncio.to_thread(_truth, market.population)
        return self._known[key]


def _truth(population: Population) -> Truth:
    try:
        groups = groups_of(population)
    except CannotRunError:
        return Truth()
    bids = draw_values(groups, _DRAWS, generator(0, "truth"))

    def regret(kind: AuctionType, reserve: float) -> float:
        mechanism = Mechanism(auction_type=kind, reserve_price=reserve)
        return truthful_regret(mechanism, groups, population.units, bids)

    regrets: dict[str, list[float]] = {
        kind: [regret(kind, each) for each in _RESERVES] for kind in FORMATS_WITH_THEORY
    }
    return Truth(reserves=_RESERVES, regrets=regrets)
