"""What a reset may choose from, and the markets that come of it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from pydantic import create_model

from daedalus.env import DesignEnv
from daedalus.market.interface import MARKET_RULES, MarketSettings, check_playable
from daedalus.market.population import Population
from daedalus.service.openenv.errors import FieldError
from daedalus.service.openenv.messages import ResetOptions
from daedalus.service.openenv.ranges import bounded


@dataclass(frozen=True)
class Catalogue:
    """The populations and markets on offer.

    Attributes:
        populations: Populations by name, at least one.
        default: Name of the population that is taken if none is named.
        market: Shape of an episode, and the rules that are taken if none are named.
        max_episode_length: Longest episode that may be asked for, in steps.
    """

    populations: dict[str, Population]
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
            market=(Literal[*MARKET_RULES], self.market.rules),
            episode_length=(length | None, None),
        )

    def playable(self, rules: str) -> list[str]:
        """Return the populations that a market's rules can seat."""
        names = []
        for name, population in self.populations.items():
            with suppress(ValueError):
                check_playable(rules, population)
                names.append(name)
        return names

    def build(self, options: ResetOptions) -> DesignEnv:
        """Return the environment that valid options describe.

        Raises:
            FieldError: The rules cannot seat the population.
        """
        chosen = options.model_dump()
        market = replace(self.market, rules=chosen["market"])
        if options.episode_length is not None:
            market = replace(market, episode_length=options.episode_length)
        population = self.populations[chosen["population"]]
        if options.n_agents is not None:
            population = replace(population, bidders=options.n_agents)
        try:
            check_playable(market.rules, population)
        except ValueError as error:
            raise FieldError("population", chosen["population"], str(error)) from error
        return DesignEnv.of(market, population)
