"""Messages between a session and its client: mechanisms, observations, states and resets."""

# Pydantic evaluates the annotations here, because ranges come from the market's own tables.

from typing import TYPE_CHECKING, Annotated, Any, Literal

from openenv.core.env_server.types import Action, Observation, State
from pydantic import BaseModel, Field, StrictBool, WithJsonSchema, create_model

from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.mechanism import CHOICES, EFFECTS, FIELDS, RANGES, Mechanism
from daedalus.market.mechanism_schema import mechanism_schema
from daedalus.market.population import MAX_BIDDERS
from daedalus.market.seeds import EPISODE_SEEDS
from daedalus.service.openenv.checked_types import Strict, integer, measured, number

LEAST_BIDDERS = 8  # the groups of the classic market sit on seats 0 to 7
MAX_SEED = EPISODE_SEEDS - 1
LONGEST_BRIEF = 2000  # characters
MANY = 1_000_000  # steps
MOST_HORIZON = 100  # of a fork: a step takes 0.1 ms, however few markets play it
MOST_VALUES = 100  # of a field that a reset allows
MOST_MECHANISMS = 64  # of a fork, whatever the settings allow: each is checked before it is counted

Count = Annotated[int, *integer(0, MANY)]
_Share = Annotated[float, *measured(0, 1)]
_Amount = Annotated[float, *measured(0)]
_Number = Annotated[float, *measured()]
_Correlation = Annotated[float, *measured(-1, 1)]


def _typed(name: str) -> tuple[Any, Any]:
    """Return the type of a mechanism's field, with its default and description."""
    kind: Any = StrictBool
    if name in CHOICES:
        kind = Literal[CHOICES[name]]
    elif name in RANGES:
        kind = Annotated[float, *number(*RANGES[name])]
    return kind, Field(default=getattr(Mechanism(), name), description=EFFECTS[name])


def _restriction(name: str) -> dict[str, Any]:
    """Return the JSON schema of what may be allowed of a field."""
    value = {key: each for key, each in _FIELD_SCHEMAS[name].items() if key != "description"}
    some = {"type": "array", "items": value, "minItems": 1, "maxItems": MOST_VALUES}
    if name not in RANGES:
        return some
    ends = {"min": value, "max": value}
    between = {"type": "object", "properties": ends, "required": [*ends]}
    return {"anyOf": [some, between | {"additionalProperties": False}]}


_FIELD_SCHEMAS = mechanism_schema()["properties"]
_RESTRICTIONS = {
    "type": "object",
    "properties": {name: _restriction(name) for name in FIELDS},
    "additionalProperties": False,
}
Restrictions = Annotated[dict[str, Any], WithJsonSchema(_RESTRICTIONS)]
"""What may be set of a mechanism, as ``read_allowed`` reads it, which checks it, too."""


if TYPE_CHECKING:
    _Settings = BaseModel
else:
    _Settings = create_model("_Settings", **{name: _typed(name) for name in FIELDS})


class MechanismFields(_Settings):
    """The eleven settings of an auction, see ``daedalus.market.mechanism.Mechanism``.

    A field that is left out takes its default. A wrong type or a value out of range is an error.
    """

    def to_mechanism(self) -> Mechanism:
        """Return the mechanism as the market takes it."""
        return Mechanism(**self.model_dump(include=set(FIELDS)))


class WireMechanism(MechanismFields, Strict):
    """A mechanism by itself."""


class DaedalusAction(MechanismFields, Action):
    """A mechanism as an OpenEnv action."""


def _or_null(description: str) -> Any:
    """Return a field that is null where its sender does not know it."""
    return Field(default=None, description=description)


class RoundOutcome(Strict):
    """The auctioneer's record of one round, see ``daedalus.market.outcome``."""

    welfare: _Share | None = _or_null("W, realised over best possible value, 0 to 1")
    fairness: _Share | None = _or_null("F = 1 - gini, 0 to 1")
    gini: _Share | None = _or_null("inequality among bidders, 0 to 1")
    participation: _Share | None = _or_null("P, share of bidders present, 0 to 1")
    clearing_price: _Amount | None = _or_null("in units of value; 0 without a sale")
    dropouts: _Amount | None = _or_null("bidders who stayed out or walked away")
    collusion_signal: _Share | None = _or_null("0 to 1")
    stability: _Share | None = _or_null("S, steadiness of welfare, 0 to 1")
    composite: _Share | None = _or_null("R, the round's reward, 0 to 1")
    revenue: _Number | None = _or_null("of all units, in units of value")
    revenue_share: _Number | None = _or_null("revenue over the value delivered, 0 to 1")


class PopulationProxies(Strict):
    """Statistics of the bidders that an auctioneer can compute.

    See ``daedalus.market.outcome.Observation``.
    """

    active_count: _Amount | None = _or_null("bidders present")
    total_bidders: _Amount | None = _or_null("bidders in all")
    units: _Amount | None = _or_null("units for sale in a round")
    bid_mean: _Amount | None = _or_null("mean of positive bids")
    bid_std: _Amount | None = _or_null("standard deviation of positive bids")
    bid_correlation: _Correlation | None = _or_null("of the last two rounds' bids, -1 to 1")
    rotation_entropy: _Share | None = _or_null("entropy of win counts, 0 to 1")
    dropout_rate: _Share | None = _or_null("share of bidders out, 0 to 1")
    budget_exhaustion: _Share | None = _or_null("share of bidders who are out after a win, 0 to 1")
    clearing_price_trend: _Number | None = _or_null("slope of prices, value per round")


class DaedalusObservation(Observation):
    """What a designer sees: never values, types or budgets.

    Attributes:
        mechanism: The mechanism in force.
        market_outcomes: The last rounds, oldest first, at most 20.
        population_proxies: Statistics of the population.
        round_number: Number of steps played.
        episode_length: Number of steps in an episode.
        curriculum_stage: Stage of the population, 0 to 4.
        brief: What the seller asks for, in words; empty without a brief.
        metadata: ``seed``, ``population``, ``market`` and ``objective`` of the episode, and
            ``allowed`` if it restricts what may be set. With a brief of one's own it has
            ``understood``: ``reward``, ``floors`` and ``warnings``. With one of a frozen split it
            has ``brief_id``, and after the answer ``verdict``: ``broken``, ``objective`` and
            ``score``, which is the reward. After a step it also has ``scores``: W, F,
            P, S and the composite R, as means over the step's scored rounds, and ``objective`` if
            this is not R. The scores may depend on values, so a designer must not see them. Its
            ``normalised`` is R on the scale of the population: 0 is random, and 1 the better of
            planner and best own. It is null where this scale was not measured: see
            ``daedalus.evaluation.scale``.
    """

    mechanism: WireMechanism
    market_outcomes: list[RoundOutcome]
    population_proxies: PopulationProxies
    round_number: int
    episode_length: int
    curriculum_stage: int
    brief: str = Field(default="", description="what the seller asks for, in words")


class DaedalusState(State):
    """Where an episode stands. Before the first reset, all fields are empty but OpenEnv's own two.

    Attributes:
        seed: The seed that repeats the episode.
        n_agents: Number of bidders.
        episode_length: Number of steps in it.
        allowed: What may be set of a mechanism, as in ``ResetOptions``.
        brief: What the seller asks for, in words; None without a brief.
        mechanism: The mechanism in force.
        rewards: Reward of every step so far.
        scores: Last score of every rubric, by name.
    """

    seed: int | None = None
    population: str | None = None
    market: str | None = None
    objective: str | None = None
    n_agents: int | None = None
    episode_length: int | None = None
    allowed: Restrictions = Field(default_factory=dict)
    brief: str | None = None
    done: bool = False
    mechanism: WireMechanism | None = None
    rewards: list[float] = Field(default_factory=list)
    scores: dict[str, float] = Field(default_factory=dict)


class ResetOptions(Strict):
    """How an episode begins. The server chooses what is left out.

    Attributes:
        seed: The same seed gives the same episode; None draws one, which the answer names.
        episode_id: A name for the episode, kept in its state.
        n_agents: Number of bidders; None takes the number that the population has.
        episode_length: Number of steps in the episode.
        allowed: What may be set of a mechanism: for each field that it names a list of values, or
            the ``min`` and ``max`` of a number. An action with another value is refused.
        brief: What the seller asks for, in sentences. What a reader understands of them takes the
            place of ``objective`` and ``allowed`` and, if they tell of the bidders, of
            ``population``.
        briefs: A frozen split of the benchmark of briefs, of which the seed draws one. The episode
            is one step, the answer: it earns the brief's score. Only ``seed`` goes with it.
    """

    seed: Annotated[int, *integer(0, MAX_SEED)] | None = None
    episode_id: str | None = Field(default=None, max_length=255)
    n_agents: Annotated[int, *integer(LEAST_BIDDERS, MAX_BIDDERS)] | None = None
    episode_length: Annotated[int, *integer(1, MANY)] | None = None
    allowed: Restrictions = Field(default_factory=dict)
    brief: str | None = Field(default=None, min_length=1, max_length=LONGEST_BRIEF)
    briefs: str | None = None


class ForkQuestion(Strict):
    """What mechanisms would earn from here, see ``fork_rewards`` of look-ahead; nothing moves.

    Attributes:
        mechanisms: K mechanisms to compare; each stays in force.
        futures: Number of futures, which all mechanisms share. 0 is the episode's own future, so
            that a horizon of 1 tells the reward of the next step.
        horizon: Steps of each future, which the episode must have left.
        seed: Seed of the futures.
    """

    mechanisms: list[WireMechanism] = Field(min_length=1, max_length=MOST_MECHANISMS)
    futures: Annotated[int, *integer(0, MANY)] = 8
    horizon: Annotated[int, *integer(1, MOST_HORIZON)] = 1
    seed: Annotated[int, *integer(0, MAX_SEED)] = 0

    @property
    def steps(self) -> int:
        """Return the number of steps that the answer plays."""
        return len(self.mechanisms) * max(self.futures, 1) * self.horizon


class ForkAnswer(Strict):
    """The mean reward of each mechanism over steps and futures, in order."""

    rewards: list[float]


class PartialObservation(Strict):
    """As much of an observation as the sender has; what is left out is unknown."""

    round_number: Count = 0
    episode_length: Annotated[int, *integer(1, MANY)] = 10
    market_outcomes: list[RoundOutcome] = Field(default_factory=list, max_length=HISTORY_LENGTH)
    population_proxies: PopulationProxies = Field(default_factory=PopulationProxies)
    mechanism: WireMechanism | None = None
    curriculum_stage: Annotated[int, *integer(0, 4)] | None = None
