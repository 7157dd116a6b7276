"""How a market is built from its settings, and how many threads play it."""

from __future__ import annotations

from collections.abc import Mapping

from daedalus.market.interface import Market, MarketSettings
from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan
from daedalus.market.views import Player


def play_on_one_thread() -> None:
    """Play markets on the calling thread alone from now on.

    This suits programs that play one market at a time. More threads would wait and take processor
    time.
    """
    from numba import set_num_threads

    set_num_threads(1)


def make_market(
    settings: MarketSettings,
    population: Population | SeatPlan,
    players: Mapping[str, Player] | None = None,
) -> Market:
    """Build the market that the settings name.

    Args:
        settings: The market's settings.
        population: Its bidders: a ``SeatPlan`` for the classic market, a ``Population`` for the
            strategic one.
        players: Who bids in Python, by the name of its type; for the strategic market alone.

    Raises:
        ValueError: The population belongs to the other market, or the players do.
    """
    from daedalus.market.classic import ClassicMarket  # imports numba, which is slow
    from daedalus.market.jit.interrupts import hold_interrupts_while_loading
    from daedalus.market.python_bidders import PlayedMarket
    from daedalus.market.strategic import StrategicMarket

    hold_interrupts_while_loading()
    if settings.name == "classic" and players:
        raise ValueError("players bid in the strategic market alone; use market=strategic")
    if settings.name == "classic" and isinstance(population, SeatPlan):
        return ClassicMarket(population)
    if settings.name == "strategic" and isinstance(population, Population):
        if players:
            return PlayedMarket(population, players, settings.strategic)
        return StrategicMarket(population, settings.strategic)
    kind = type(population).__name__
    raise ValueError(f"market={settings.name} cannot play a {kind}; give it its own population")
