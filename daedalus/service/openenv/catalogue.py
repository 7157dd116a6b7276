"""What a reset may choose from, and the markets that come of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from pydantic import create_model

from daedalus.env import DesignEnv
from daedalus.market.interface import MARKETS, MarketSettings
from daedalus.market.population_settings import PopulationSettings
from daedalus.service.openenv.errors import FieldError
from daedalus.service.openenv.messages import ResetOptions
from daedalus.service.openenv.ranges import bounded


@dataclass(frozen=True)
class Catalogue:
    """The populations and markets on offer.

    Attributes:
        populations: Populations by name, at least one.
        default: Name of the population that is taken if none is named.
        market: Shape of an episode, and the market that is taken if none is named.
        max_episode_length: Longest episode that may be asked for, in steps.
    """

    populations: dict[str, PopulationSettings]
    default: str
    market: MarketSettings
    max_episode_length: int

    def __post_init__(self) -> None:
        if self.default not in self.populations:
            known = ", ".join(self.populations)
            raise ValueError(f"default: {self.default!r} is not on offer; choose one of {known}")

    @cached_property
    def options(self) -> type[ResetOptions]:
        """Return the model of a reset's options, in which names are those on offer."""
        length = bounded(int, 1, self.max_episode_length)
        return create_model(
            "EpisodeOptions",
            __base__=ResetOptions,
            __doc__=ResetOptions.__doc__,
            population=(Literal[*self.populations], self.default),
            market=(Literal[*MARKETS], self.market.name),
            episode_length=(length | None, None),
        )

    def playable(self, market: str) -> list[str]:
        """Return the populations that a market can play."""
        return [name for name, each in self.populations.items() if market in each.markets]

    def build(self, options: ResetOptions) -> DesignEnv:
        """Return the environment that valid options describe.

        Raises:
            FieldError: The market cannot play the population, or not with as many bidders.
        """
        chosen = options.model_dump()
        market = replace(self.market, name=chosen["market"])
        if options.episode_length is not None:
            market = replace(market, episode_length=options.episode_length)
        playable = self.playable(market.name)
        if chosen["population"] not in playable:
            plays = f"the {market.name} market plays {', '.join(playable)}"
            raise FieldError("population", chosen["population"], plays)
        population = self.populations[chosen["population"]].in_market(market.name)
        if options.n_agents is None:
            return DesignEnv.of(market, population)
        try:
            return DesignEnv.of(market, replace(population, bidders=options.n_agents))
        except ValueError as error:
            raise FieldError("n_agents", options.n_agents, str(error)) from error
