"""A market in which a language model bids, as the catalogue offers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.views import Player

ASKED_POPULATION, ASKED_MARKET = "language_models", "asked"
"""Names of the population and of its market; neither goes with another one."""


@dataclass(frozen=True)
class AskedMarket:
    """The bidders, the shape of an episode, and who bids.

    Attributes:
        population: The bidders.
        market: Shape of the episodes. They have no warm-up, so that a reset asks nothing.
        players: Who bids, by type. A bid that must be asked for raises ``UnansweredError``.
        model: Name of the model.
        recorded: Whether its answers are recorded, so that it answers nothing else.
        rules: Mechanisms to begin with, by name; recorded answers allow each of them.
    """

    population: PopulationSettings
    market: MarketSettings
    players: Mapping[str, Player]
    model: str
    recorded: bool
    rules: Mapping[str, Mechanism]
