"""What goes over the wire: the mechanism, what is observed of the market, and requests."""

# Annotations are evaluated here: ranges and choices come from the market's own tables.

from typing import Any, Literal

from openenv.core.env_server.types import Action, Observation, State
from pydantic import BaseModel, Field, StrictBool

from daedalus.market.mechanism import AUCTION_TYPES, COALITION_POLICIES, RANGES, Mechanism
from daedalus.market.outcome import HISTORY_LENGTH
from daedalus.market.population import MAX_BIDDERS
from daedalus.market.schema import DESCRIPTIONS
from daedalus.service.openenv.ranges import Strict, bounded, signal

LEAST_BIDDERS = 8  # the classic groups sit on seats 0 to 7
MAX_SEED = 2**53 - 1  # what every JSON reader keeps exactly
MANY = 1_000_000  # steps


def ranged(name: str) -> Any:
    """Return the type of a mechanism's numeric field."""
    return bounded(float, *RANGES[name])


def _field(name: str, default: Any) -> Any:
    return Field(default, description=DESCRIPTIONS[name])


class MechanismFields(BaseModel):
    """The eleven rules of an auction, see ``daedalus.market.mechanism.Mechanism``.

    A field that is left out takes its default; one of the wrong type or out of range is an error.
    """

    auction_type: Literal[*AUCTION_TYPES] = _field("auction_type", "second_price")
    reserve_price: ranged("reserve_price") = _field("reserve_price", 0.10)
    reveal_reserve: StrictBool = _field("reveal_reserve", False)
    reveal_competing_bids: StrictBool = _field("reveal_competing_bids", False)
    reveal_winner_identity: StrictBool = _field("reveal_winner_identity", False)
    reveal_clearing_price: StrictBool = _field("reveal_clearing_price", True)
    reveal_bid_distribution: StrictBool = _field("reveal_bid_distribution", False)
    shill_penalty: ranged("shill_penalty") = _field("shill_penalty", 0.0)
    withdrawal_penalty: ranged("withdrawal_penalty") = _field("withdrawal_penalty", 0.0)
    collusion_penalty: ranged("collusion_penalty") = _field("collusion_penalty", 0.0)
    coalition_policy: Literal[*COALITION_POLICIES] = _field("coalition_policy", "allow")

    def to_mechanism(self) -> Mechanism:
        """Return the rules as the market takes them."""
        return Mechanism(**self.model_dump(include=set(MechanismFields.model_fields)))


class WireMechanism(MechanismFields, Strict):
    """A mechanism by itself."""


class DaedalusAction(MechanismFields, Action):
    """A mechanism as an OpenEnv action."""


_Share, _Amount, _Number = signal(0, 1), signal(0), signal()


class RoundOutcome(Strict):
    """One auction round as the auctioneer accounts for it, see ``daedalus.market.outcome``."""

    welfare: _Share = Field(None, description="W, realised over best possible value, 0 to 1")
    fairness: _Share = Field(None, description="F = 1 - gini, 0 to 1")
    gini: _Share = Field(None, description="inequality among bidders, 0 to 1")
    participation: _Share = Field(None, description="P, share of bidders present, 0 to 1")
    clearing_price: _Amount = Field(None, description="in units of value; 0 without a sale")
    dropouts: _Amount = Field(None, description="bidders who stayed out or walked away")
    collusion_signal: _Share = Field(None, description="0 to 1")
    stability: _Share = Field(None, description="S, steadiness of welfare, 0 to 1")
    composite: _Share = Field(None, description="R, the round's reward, 0 to 1")
    revenue: _Number = Field(None, description="in units of value")
    revenue_share: _Number = Field(None, description="revenue over the value delivered, 0 to 1")


class PopulationProxies(Strict):
    """What an auctioneer can tell of the bidders, see ``daedalus.market.outcome.Observation``."""

    active_count: _Amount = Field(None, description="bidders present")
    total_bidders: _Amount = Field(None, description="bidders in all")
    bid_mean: _Amount = Field(None, description="mean of positive bids")
    bid_std: _Amount = Field(None, description="standard deviation of positive bids")
    bid_correlation: signal(-1, 1) = Field(
        None, description="of the last two rounds' bids, -1 to 1"
    )
    rotation_entropy: _Share = Field(None, description="entropy of win counts, 0 to 1")
    dropout_rate: _Share = Field(None, description="share of bidders out, 0 to 1")
    budget_exhaustion: _Share = Field(None, description="share out who had won before, 0 to 1")
    clearing_price_trend: _Number = Field(None, description="slope of prices, value per round")


class DaedalusObservation(Observation):
    """What a designer sees: never values, types or budgets.

    Attributes:
        mechanism: The rules in force.
        market_outcomes: The last rounds, oldest first, at most 20.
        population_proxies: Population statistics.
        round_number: Steps played.
        episode_length: Steps in an episode.
        curriculum_stage: Stage of the population, 0 to 4.
        metadata: ``seed``, ``population`` and ``market`` of the episode, and after a step
            ``scores``: W, F, P, S and the composite R, means over the step's scored rounds. They
            may rest on values, so they are for whoever scores, not for who designs.
    """

    mechanism: WireMechanism
    market_outcomes: list[RoundOutcome]
    population_proxies: PopulationProxies
    round_number: int
    episode_length: int
    curriculum_stage: int


class DaedalusState(State):
    """Where an episode stands; all but the first two are None before the first reset.

    Attributes:
        seed: What the episode is repeated with.
        population: Name of its population.
        market: Its rules.
        n_agents: Number of bidders.
        episode_length: Steps in it.
        done: Whether it has ended.
        mechanism: The rules in force.
        rewards: Reward of every step so far.
        scores: Last score of every rubric, by name.
    """

    seed: int | None = None
    population: str | None = None
    market: str | None = None
    n_agents: int | None = None
    episode_length: int | None = None
    done: bool = False
    mechanism: WireMechanism | None = None
    rewards: list[float] = Field(default_factory=list)
    scores: dict[str, float] = Field(default_factory=dict)


class ResetOptions(Strict):
    """How an episode begins; what is left out takes the server's default.

    Attributes:
        seed: Same seed, same episode; None draws one, which the answer names.
        episode_id: A name for the episode, kept in its state.
        n_agents: Number of bidders; None is as many as the population has.
        episode_length: Steps in the episode.
    """

    seed: bounded(int, 0, MAX_SEED) | None = None
    episode_id: str | None = Field(None, max_length=255)
    n_agents: bounded(int, LEAST_BIDDERS, MAX_BIDDERS) | None = None
    episode_length: bounded(int, 1, MANY) | None = None


class PartialObservation(Strict):
    """As much of an observation as there is; what is left out is unknown."""

    round_number: bounded(int, 0, MANY) = 0
    episode_length: bounded(int, 1, MANY) = 10
    market_outcomes: list[RoundOutcome] = Field(default_factory=list, max_length=HISTORY_LENGTH)
    population_proxies: PopulationProxies = Field(default_factory=PopulationProxies)
    mechanism: WireMechanism | None = None
    curriculum_stage: bounded(int, 0, 4) | None = None
