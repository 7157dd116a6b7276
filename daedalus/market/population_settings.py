"""A population for each market that can play it, as ``conf/`` describes it."""

from __future__ import annotations

from dataclasses import dataclass

from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan


@dataclass
class PopulationSettings:
    """A population, described for every market that can play it.

    Attributes:
        name: Name of the population, as in ``population=NAME``. Tables and figures show it.
        strategic: The bidders of the strategic market; None if that market cannot play it.
        classic: The bidders of the classic market; None if that market cannot play it.

    Raises:
        ValueError: No market can play it.
    """

    name: str
    strategic: Population | None = None
    classic: SeatPlan | None = None

    def __post_init__(self) -> None:
        if not self.markets:
            raise ValueError(f"name: {self.name}: no market plays it; describe it for one")

    @property
    def markets(self) -> list[str]:
        """Return the names of the markets that can play it."""
        bidders = {"strategic": self.strategic, "classic": self.classic}
        return [market for market, each in bidders.items() if each is not None]

    def in_market(self, market: str) -> Population | SeatPlan:
        """Return the bidders of a market.

        Raises:
            ValueError: The market cannot play this population.
        """
        bidders = self.classic if market == "classic" else self.strategic
        if bidders is None:
            raise ValueError(
                f"population {self.name}: market={market} cannot play it; "
                f"choose market={' or market='.join(self.markets)}"
            )
        return bidders
