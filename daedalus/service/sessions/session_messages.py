"""What sessions answer: a designer's mechanism, and what a watcher sees."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from daedalus.design.briefs.amounts import LARGEST
from daedalus.design.briefs.meanings import MEANINGS
from daedalus.service.openenv.checked_types import Strict, number, text
from daedalus.service.openenv.messages import LONGEST_BRIEF, Restrictions, WireMechanism

TRAINED = "trained"
DesignerStatus = Literal["none", "loading", "ready", "failed"]
MOST_SENTENCES = 40
"""Most sentences of a brief."""


class GivenClause(Strict):
    """A sentence of a brief, and its meaning.

    Attributes:
        meaning: One of ``daedalus.design.briefs.meanings.MEANINGS``.
        amount: What it names, if the meaning takes an amount.
        sentence: The sentence.
        sure: How sure the reader is; 1 is a person's word, 0 no reader's.
        doubt: Why it is not to be used; empty if it is.
    """

    meaning: Literal[*MEANINGS]  # type: ignore[valid-type]
    amount: Annotated[float, *number(0, LARGEST)] | None = None
    sentence: Annotated[str, *text(LONGEST_BRIEF)] = ""
    sure: Annotated[float, *number(0, 1)] = 1.0
    doubt: Annotated[str, *text(LONGEST_BRIEF)] = ""


class ReadSentence(GivenClause):
    """What became of a sentence. It may be sent back as it is, or changed, without the rest.

    Attributes:
        use: ``used``; ``unused`` and why in ``says``; ``excluded`` by an earlier sentence; or
            ``idle``, since it asks for nothing.
        says: What it rules in terms of the market, or why it is not used.
        kept: Whether the mechanism keeps it; null if it is no rule, or was not measured.
        price: What it costs: the objective that a search reaches without it, less that with it;
            null if that was not asked for.
    """

    use: Literal["used", "unused", "excluded", "idle"]
    says: str
    kept: bool | None = None
    price: float | None = None


class Excluded(Strict):
    """Two sentences that cannot both be kept, and what they are about; the second is left out."""

    first: str
    second: str
    about: str


class BriefAnswer(Strict):
    """What was understood of a brief, and what came of it.

    Attributes:
        sentences: Its sentences, in order.
        contradictions: Pairs that exclude each other.
        reward: Weights of what is maximised.
        allowed: What the rules allow of the mechanism.
        floors: Least means of reward terms.
        population: The bidders that it tells of; null if these are the episode's.
        objective: What the mechanism reaches of ``reward`` in 64 new episodes.
        terms: Mean of each reward term there.
        notes: What else to know, in sentences.
    """

    sentences: list[ReadSentence]
    contradictions: list[Excluded]
    reward: dict[str, float]
    allowed: Restrictions
    floors: dict[str, float]
    population: str | None
    objective: float | None
    terms: dict[str, float]
    notes: list[str]


class DesignAnswer(Strict):
    """A mechanism, and its source.

    Attributes:
        mechanism: The proposal, always valid.
        source: ``ai`` if the trained designer made it, ``fallback`` if the heuristic designer
            answered in its place, ``rule`` if the request named another designer or had a brief.
        status: Whether the trained designer is ready.
        error: Why there was a fallback.
        text: The model's own text, if it was asked, of bounded length and never checked.
        note: What the designer was trained for, if its reward, bidders or market are not those of
            the episode.
        latency: Seconds until the answer.
        brief: What was understood, if the request had a brief. A fallback then keeps its rules for
            fields, and perhaps not its floors.
    """

    mechanism: WireMechanism
    source: Literal["ai", "fallback", "rule"]
    status: DesignerStatus
    error: str | None = None
    text: str | None = None
    note: str | None = None
    latency: float
    brief: BriefAnswer | None = None


class DesignerState(Strict):
    """State of the trained designer: ``none``, ``loading``, ``ready`` or ``failed``, and why."""

    status: DesignerStatus
    error: str | None = None
    waiting: int


class ArenaRound(Strict):
    """One auction round for people who watch. Lists have one entry for each bidder, by seat.

    Attributes:
        number: Number of rounds played, this one included.
        bids: Bids for the first unit, in units of value; 0 without a bid.
        present: Whether each bidder bid.
        delivered: Units that each bidder bought and kept.
        false_bids: Bids under false names, without their owners.
        paid: What each bidder paid for its units, in units of value.
        price: Clearing price of a unit, 0 without a sale; see ``Sales`` for each format. In first
            price and vcg winners may pay different prices.
        reserve: The reserve price, the lowest bid that competes.
        revenue: Sum of all payments.
        scores: W, F, P, S and the composite R of the round, and ``objective`` if this is not R.
    """

    number: int
    bids: list[float]
    present: list[bool]
    delivered: list[int]
    false_bids: list[float]
    paid: list[float]
    price: float
    reserve: float
    revenue: float
    scores: dict[str, float]


class Arena(Strict):
    """The rounds of a session's last step; none before the first step.

    Attributes:
        step: Number of steps played.
        scored: Number of rounds at the end of a step whose means are its scores.
        rounds: They, the oldest first.
    """

    step: int
    scored: int
    rounds: list[ArenaRound]


class Bidder(Strict):
    """A bidder's type, and its strategies beside bidding its value, or ``language_model``."""

    type: str
    menu: list[str]


class Reveal(Strict):
    """The hidden side of the bidders.

    Attributes:
        bidders: Their types, by seat.
        false_names: For every round of the arena, the owners of false names, by seat.
        values: For every round of the arena, what one unit was worth to each bidder, by seat; 0 if
            it drew no value.
    """

    bidders: list[Bidder]
    false_names: list[list[int]]
    values: list[list[float]]


class Truth(Strict):
    """What a bidder loses in one sale by bidding its value, if it knew all bids, in the mean.

    Attributes:
        reserves: Reserve prices, rising; none where there is no certificate.
        regrets: For each format, the losses at these reserves, in units of value.
    """

    reserves: list[float] = Field(default_factory=list)
    regrets: dict[str, list[float]] = Field(default_factory=dict)
