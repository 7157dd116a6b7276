"""What sessions answer: a designer's mechanism, and what a watcher sees."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from daedalus.service.openenv.checked_types import Strict
from daedalus.service.openenv.messages import WireMechanism

TRAINED = "trained"
DesignerStatus = Literal["none", "loading", "ready", "failed"]


class DesignAnswer(Strict):
    """A mechanism, and its source.

    Attributes:
        mechanism: The proposal, always valid.
        source: ``ai`` if the trained designer made it, ``fallback`` if the heuristic designer
            answered in its place, ``rule`` if the request named another designer.
        status: Whether the trained designer is ready.
        error: Why there was a fallback.
        text: The model's own text, if it was asked, of bounded length and never checked.
        note: What the designer was trained for, if its reward, bidders or market are not those of
            the episode.
        latency: Seconds until the answer.
    """

    mechanism: WireMechanism
    source: Literal["ai", "fallback", "rule"]
    status: DesignerStatus
    error: str | None = None
    text: str | None = None
    note: str | None = None
    latency: float


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
    """The rounds of a session's last step; none before the first step."""

    step: int
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
