"""What sessions answer: a designer's mechanism, and what a watcher sees."""

from __future__ import annotations

from typing import Literal

from daedalus.service.openenv.messages import WireMechanism
from daedalus.service.openenv.ranges import Strict

TRAINED = "trained"
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
