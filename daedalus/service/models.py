"""What goes over the wire: the mechanism, what is observed of the market, and requests."""

# Annotations are evaluated here: ranges and choices come from the market's own tables.

import math
from typing import Annotated, Any, Literal

from openenv.core.env_server.types import Action, Observation, State
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from daedalus.market.mechanism import AUCTION_TYPES, COALITION_POLICIES, RANGES, Mechanism
from daedalus.market.outcome import HISTORY_LENGTH
from daedalus.market.population import MAX_BIDDERS
from daedalus.market.schema import DESCRIPTIONS

LEAST_BIDDERS = 8  # the classic groups sit on seats 0 to 7
MAX_SEED = 2**53 - 1  # what every JSON reader keeps exactly
MANY = 1_000_000  # steps
_ROUNDING = 1e-6  # by which sums of floats may leave their range
_RANGE_WORDS = (
    "a finite number",
    "a finite number of at least {low}",
    "a number from {low} to {high}",
)


class Strict(BaseModel):
    """A message in which an unknown field is an error."""

    model_config = ConfigDict(extra="forbid")


def bounded(kind: type, low: float, high: float) -> Any:
    """Return the type of a number from ``low`` to ``high``, whose errors name both."""
    allowed = f"give {'an integer' if kind is int else 'a number'} from {low} to {high}"

    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            raise PydanticCustomError("range", "{allowed}", {"allowed": allowed}) from None

    finite = {} if kind is int else {"allow_inf_nan": False}
    return Annotated[kind, Field(ge=low, le=high, strict=True, **finite), WrapValidator(check)]


def signal(low: float = -math.inf, high: float = math.inf) -> Any:
    """Return the type of a measured number, or of its absence, whose errors name the range."""
    ends = {"minimum": low, "maximum": high}
    schema = {name: end for name, end in ends.items() if math.isfinite(end)}
    allowed = f"give {_RANGE_WORDS[len(schema)].format(low=low, high=high)}, or null"

    def check(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            number = handler(value)
        except ValidationError:
            number = math.nan
        if not low - _ROUNDING <= number <= high + _ROUNDING:
            raise PydanticCustomError("range", "{allowed}", {"allowed": allowed})
        return number

    field = Field(strict=True, allow_inf_nan=False, json_schema_extra=schema)
    return Annotated[float, field, WrapValidator(check)] | None


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


SessionId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.:-]{1,64}$")]


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


class StepRequest(Strict):
    """A step of a session."""

    session_id: SessionId
    action: DaedalusAction


class ResetAnswer(Strict):
    """The first observation of an episode, in a form that OpenEnv's readers know, too."""

    session_id: str
    observation: dict[str, Any]
    reward: float | None = None
    done: bool = False
    info: dict[str, Any]


class StepAnswer(Strict):
    """What a step gave."""

    observation: dict[str, Any]
    reward: float
    done: bool
    info: dict[str, Any]


TRAINED = "trained"
DesignerName = Annotated[str, Field(pattern=r"^[a-z_]{1,32}$")]


class DesignRequest(Strict):
    """Who is asked, and what it is told: a live session, or as much of an observation as there is.

    In a session a random mechanism is that of its seed and step, so that episodes can be repeated.
    """

    designer: DesignerName = Field(TRAINED, description="one that GET /api/catalogue names")
    session_id: SessionId | None = None
    round_number: bounded(int, 0, MANY) = 0
    episode_length: bounded(int, 1, MANY) = 10
    market_outcomes: list[RoundOutcome] = Field(default_factory=list, max_length=HISTORY_LENGTH)
    population_proxies: PopulationProxies = Field(default_factory=PopulationProxies)
    mechanism: WireMechanism | None = None
    curriculum_stage: bounded(int, 0, 4) | None = None


DesignerStatus = Literal["none", "loading", "ready", "failed"]


class DesignAnswer(Strict):
    """A mechanism, and who made it.

    Attributes:
        mechanism: The proposal, always valid.
        source: ``ai`` if the trained designer made it, ``fallback`` if written rules stood in for
            it, ``rule`` if another designer was asked.
        status: How the trained designer is.
        error: Why there was a fallback.
        text: What the model wrote, if it was asked.
        latency: Seconds that the answer took.
    """

    mechanism: WireMechanism
    source: Literal["ai", "fallback", "rule"]
    status: DesignerStatus
    error: str | None = None
    text: str | None = None
    latency: float


class DesignerState(Strict):
    """How the trained designer is: ``none``, ``loading``, ``ready`` or ``failed``, and why."""

    status: DesignerStatus
    error: str | None = None
    waiting: int


class ArenaRound(Strict):
    """One auction round as people watch it; lists have one entry for each bidder, by seat.

    Attributes:
        number: Rounds played, this one counted.
        bids: Bids for a first unit, in units of value; 0 for who made none.
        present: Who bid.
        delivered: Units that each bought and kept.
        false_bids: Bids under false names; nobody is told whose.
        price: What was paid for a unit, 0 without a sale.
        reserve: The lowest bid that competed.
        revenue: What was paid in all.
        scores: W, F, P, S and the composite R of the round.
    """

    number: int
    bids: list[float]
    present: list[bool]
    delivered: list[int]
    false_bids: list[float]
    price: float
    reserve: float
    revenue: float
    scores: dict[str, float]


class Arena(Strict):
    """The rounds of a session's last step; none before the first."""

    step: int
    rounds: list[ArenaRound]


class Bidder(Strict):
    """Who a bidder is: its type, and what it may do beside bidding its values."""

    type: str
    menu: list[str]


class Reveal(Strict):
    """Who the bidders are, and whose the false names of every round of the arena were, by seat."""

    bidders: list[Bidder]
    false_names: list[list[int]]


class MechanismField(Strict):
    """One of the eleven rules: a choice, a flag, or a number from ``low`` to ``high``."""

    name: str
    kind: Literal["choice", "flag", "number"]
    choices: list[str] | None = None
    low: float | None = None
    high: float | None = None
    default: str | bool | float
    meaning: str


class TypeOnOffer(Strict):
    """A type of bidders: its share of the population, and what it may do."""

    name: str
    share: float
    menu: list[str]


class PopulationOnOffer(Strict):
    """A population, and which market's rules can seat it."""

    name: str
    stage: int
    bidders: int
    units: int
    types: list[TypeOnOffer]
    markets: list[str]


class Meaning(Strict):
    """A name, and what it stands for."""

    name: str
    meaning: str


class Start(Strict):
    """What an episode takes if nothing else is asked for."""

    population: str
    market: str


class Offer(Strict):
    """Everything that a visitor may choose."""

    fields: list[MechanismField]
    populations: list[PopulationOnOffer]
    markets: list[Meaning]
    designers: list[Meaning]
    default: Start
    episode_length: int
    max_episode_length: int


class TourStop(Strict):
    """A preset in which one sees an attack hurt and a rule mend it, see ``daedalus.service.tour``.

    Attributes:
        name: What addresses it.
        title: What a reader calls it.
        attack: What is done, and why it pays.
        population: Who bids.
        market: Which rules are played.
        seed: Seed of the episode.
        n_agents: Number of bidders; None is as many as the population has.
        hurt: The rules that the attack feeds on.
        fixed: The rules that mend it.
        changed: The fields in which they differ.
        watch: What to look at.
        fix: Why the changed rules work.
    """

    name: str
    title: str
    attack: str
    population: str
    market: str
    seed: int
    n_agents: int | None
    hurt: WireMechanism
    fixed: WireMechanism
    changed: list[str]
    watch: str
    fix: str


class Tour(Strict):
    """The stops that can be visited with the populations on offer."""

    stops: list[TourStop]


class TrainingCurves(Strict):
    """The newest training run that was found here, and what it logged at every step."""

    run: str | None
    history: list[dict[str, float | None]]


class FieldProblem(BaseModel):
    """One field that is wrong: where, what was sent, and what is allowed."""

    field: str
    value: Any = None
    allowed: str


class Problem(BaseModel):
    """Why a request was refused; ``detail`` lists fields if some were wrong."""

    error: str
    detail: list[FieldProblem] = Field(default_factory=list)


INVALID: dict[int | str, dict[str, Any]] = {
    422: {"model": Problem, "description": "The fields that are wrong"}
}
"""How an operation documents that it refuses what is malformed."""
