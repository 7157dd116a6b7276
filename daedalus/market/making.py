"""Building the market that the settings name, and the threads that it plays on."""

from __future__ import annotations

from daedalus.market.interface import Market, MarketSettings
from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan


def play_on_one_thread() -> None:
    """Have markets played on the calling thread alone from now on.

    This suits programs that play one market at a time. Further threads would only wait there, and
    waiting takes processor time.
    """
    from numba import set_num_threads

    set_num_threads(1)


def make_market(settings: MarketSettings, population: Population | SeatPlan) -> Market:
    """Build the market that the settings name.

    Args:
        settings: Which market.
        population: Its bidders: a ``SeatPlan`` for the classic market, else a ``Population``.

    Raises:
        ValueError: The population is of the other market.
    """
    from daedalus.market.classic import ClassicMarket  # numba is slow to import; --help needs none
    from daedalus.market.interrupts import hold_interrupts_while_loading
    from daedalus.market.strategic import StrategicMarket

    hold_interrupts_while_loading()
    if settings.name == "classic" and isinstance(population, SeatPlan):
        return ClassicMarket(population)
    if settings.name == "strategic" and isinstance(population, Population):
        return StrategicMarket(population, settings.strategic)
    kind = type(population).__name__
    raise ValueError(f"market={settings.name} cannot play a {kind}; give it its own population")
