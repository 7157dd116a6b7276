"""The choices of a reset, and the environment that a choice describes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, Literal, Self

from pydantic import create_model

from daedalus.design.briefs.generator import TRAINING
from daedalus.design.briefs.splits import SPLITS
from daedalus.design.env import DesignEnv
from daedalus.design.rewards.stack import RewardStack
from daedalus.market.allowed import Allowed, narrowed, read_allowed
from daedalus.market.goal import Goal
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, MechanismError
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.views import Player
from daedalus.service.openenv.briefs_on_offer import BriefsOnOffer, Opened
from daedalus.service.openenv.checked_types import integer
from daedalus.service.openenv.errors import FieldError
from daedalus.service.openenv.messages import MOST_VALUES, ResetOptions
from daedalus.service.openenv.rubric import COMPOSITE

ASKED_POPULATION, ASKED_MARKET = "language_models", "asked"
"""Names of the population in which a language model bids, and of its market; neither goes with
another one."""


@dataclass(frozen=True)
class AskedMarket:
    """A market in which a language model bids.

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


@dataclass(frozen=True)
class Catalogue:
    """The populations, markets and objectives on offer.

    Attributes:
        populations: Populations by name, at least one.
        default: Name of the population of a reset that names none.
        market: Name of the market of a reset that names none.
        markets: Markets by the name that a reset gives, at least one.
        max_episode_length: Longest episode on offer, in steps.
        objective: Name of the objective of a reset that names none.
        objectives: What an episode may reward, by the name that a reset gives, at least one.
        asked_market: The market in which a language model bids; None if there is none.
        allowed: What may be set of a mechanism, see ``Goal``; a reset may restrict it further.
        briefs: What reads briefs; None if a reset may give none.
    """

    populations: dict[str, PopulationSettings]
    default: str
    market: str
    markets: dict[str, MarketSettings]
    max_episode_length: int
    objective: str = COMPOSITE
    objectives: dict[str, RewardStack] = field(default_factory=lambda: {COMPOSITE: RewardStack()})
    asked_market: AskedMarket | None = None
    allowed: Mapping[str, Allowed] = field(default_factory=dict)
    briefs: BriefsOnOffer | None = None

    def __post_init__(self) -> None:
        places: dict[str, Mapping[str, object]] = {
            "default": self.populations, "market": self.markets, "objective": self.objectives,
        }  # fmt: skip
        for place, offered in places.items():
            name, known = getattr(self, place), ", ".join(offered)
            if name not in offered:
                raise ValueError(f"{place}: {name!r} is not on offer; choose one of {known}")

    @cached_property
    def options(self) -> type[ResetOptions]:
        """Return the model of a reset's options, which allows only what is on offer."""
        length = Annotated[int, *integer(1, self.max_episode_length)]
        fields: dict[str, Any] = {
            "population": (Literal[*self.populations], self.default),
            "market": (Literal[*self.markets], self.market),
            "objective": (Literal[*self.objectives], self.objective),
            "episode_length": (length | None, None),
            "briefs": (Literal[*SPLITS, TRAINING.name] | None, None),
        }
        return create_model(
            "EpisodeOptions", __base__=ResetOptions, __doc__=ResetOptions.__doc__, **fields
        )

    def with_asked_market(self, asked: AskedMarket) -> Self:
        """Return the catalogue that also offers a market in which a language model bids.

        Recorded answers are offered if they know a mechanism that may be set.
        """
        goal = Goal(allowed=self.allowed)
        rules = {name: each for name, each in asked.rules.items() if goal.admits(each)}
        if asked.recorded and not rules:
            return self
        asked = replace(asked, rules=rules)
        populations = self.populations | {ASKED_POPULATION: asked.population}
        markets = self.markets | {ASKED_MARKET: asked.market}
        return replace(self, populations=populations, markets=markets, asked_market=asked)

    def playable(self, market: str) -> list[str]:
        """Return the populations that a market can play."""
        plays = self.markets[market].name
        return [
            name
            for name, each in self.populations.items()
            if plays in each.markets and (name == ASKED_POPULATION) == (market == ASKED_MARKET)
        ]

    def open(self, options: ResetOptions) -> Opened:
        """Return the episode that valid options describe, whose seed is known.

        Raises:
            FieldError: See ``build``; or a brief comes with what it says itself, or cannot be
                played.
        """
        chosen = options.model_dump()
        if options.brief is None and options.briefs is None:
            return self._usual(options)
        name = "brief" if options.briefs is None else "briefs"
        if self.briefs is None:
            raise FieldError(name, chosen[name], "this service reads no briefs; leave it out")
        self._require_alone(chosen, name)
        if options.briefs is not None:
            assert options.seed is not None
            return self.briefs.frozen(options.briefs, options.seed)
        assert options.brief is not None
        return self.briefs.own(options.brief, self._usual(options))

    def _usual(self, options: ResetOptions) -> Opened:
        chosen = options.model_dump()
        return Opened(self.build(options), chosen["population"], chosen["market"])

    def _require_alone(self, chosen: Mapping[str, Any], name: str) -> None:
        """Refuse what a brief says itself."""
        said: dict[str, object] = {"objective": self.objective, "allowed": {}}
        if name == "briefs":
            if self.allowed:
                allowed = "the benchmark needs all mechanisms, and this service restricts them"
                raise FieldError(name, chosen[name], allowed)
            said |= {"brief": None, "population": self.default, "market": self.market}
            said |= {"n_agents": None, "episode_length": None}
        for other, usual in said.items():
            if chosen[other] != usual:
                raise FieldError(other, chosen[other], f"{name} says it itself; leave it out")

    def build(self, options: ResetOptions) -> DesignEnv:
        """Return the environment that valid options describe.

        Raises:
            FieldError: The market cannot play the population, or not with as many bidders, or what
                is allowed is no restriction.
        """
        return replace(self._build(options), allowed=self._allowed(options.allowed))

    def _allowed(self, written: Mapping[str, Any]) -> dict[str, Allowed]:
        """Return what may be set in an episode: what a reset allows of what the server does."""
        for name, each in written.items():
            if isinstance(each, list) and len(each) > MOST_VALUES:
                raise FieldError(f"allowed.{name}", each, f"give at most {MOST_VALUES} values")
        try:
            return narrowed(self.allowed, read_allowed(written))
        except MechanismError as error:
            raise FieldError(error.field, error.value, error.allowed) from error

    def _build(self, options: ResetOptions) -> DesignEnv:
        chosen = options.model_dump()
        market = self.markets[chosen["market"]]
        if options.episode_length is not None:
            market = replace(market, episode_length=options.episode_length)
        playable = self.playable(chosen["market"])
        if chosen["population"] not in playable:
            plays = f"the {chosen['market']} market plays {', '.join(playable) or 'none on offer'}"
            raise FieldError("population", chosen["population"], plays)
        population = self.populations[chosen["population"]].in_market(market.name)
        reward = self.objectives[chosen["objective"]]
        asked = self.asked_market if chosen["population"] == ASKED_POPULATION else None
        if options.n_agents is None:
            players = None if asked is None else asked.players
            return DesignEnv.of(market, population, reward, players)
        if asked is not None:
            allowed = "a language model bids in a fixed number of seats; leave it out"
            raise FieldError("n_agents", options.n_agents, allowed)
        try:
            return DesignEnv.of(market, population.of_size(options.n_agents), reward)
        except ValueError as error:
            raise FieldError("n_agents", options.n_agents, str(error)) from error
