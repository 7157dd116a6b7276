"""Bidders that are written in Python: what they do, what they know, and what they are told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from daedalus.market.literals import AuctionType

DISCLOSURES = (
    "reveal_clearing_price",
    "reveal_winner_identity",
    "reveal_competing_bids",
    "reveal_bid_distribution",
)
"""The fields of a mechanism that decide what bidders are told of a round after it."""

PLAYED = np.dtype(
    [(name, np.float64) for name in ("value_one", "value_two", "one", "two", "alias")]
    + [("paid", np.float64), ("net", np.float64), ("units", np.int64)],
    align=True,
)
"""What one bidder did in one round: its values, its bids and its bid under a false name, what it
paid, its surplus, and the units delivered. The surplus is kept for players alone."""

HIGHEST_BID = 100.0
"""The highest bid that a player may make: values are at most 1, so that more is a slip."""

_BIDS = ("one", "two", "alias")


class BidSummary(NamedTuple):
    """The summary statistics of a round's bids above 0, all units and names together.

    Attributes:
        number: How many bids there were.
        mean: Their mean, in units of value; 0 without bids.
        deviation: Their standard deviation.
    """

    number: int
    mean: float
    deviation: float


@dataclass(frozen=True)
class PastRound:
    """A round that is over, as one bidder knows it. What the mechanism kept secret is None.

    Attributes:
        values: What a first unit, and a second, were worth to it.
        bids: Its bids, as far as its money covered them; as many as ``values``.
        units: Units that it took.
        paid: What it paid in all, in units of value.
        net: Its surplus after payments and fines. A win may prove worthless, and then ``net`` is
            what it lost.
        price: The clearing price; 0 if nothing was sold.
        winners: Numbers of the bidders that took a unit.
        other_bids: Bids of the others above 0, the highest first, false names among them.
        summary: Statistics of all bids.
    """

    values: tuple[float, ...]
    bids: tuple[float, ...]
    units: int
    paid: float
    net: float
    price: float | None
    winners: tuple[int, ...] | None
    other_bids: tuple[float, ...] | None
    summary: BidSummary | None


@dataclass(frozen=True)
class View:
    """All that one bidder knows when it bids. Amounts are in units of value.

    Attributes:
        type: Name of its type.
        bidder: Its number, from 0.
        bidders: Number of bidders n.
        units: Units for sale K.
        round: Rounds played before.
        values: What a first unit, and a second, are worth to it in this round, from 0 to 1, the
            higher one first. It has one entry if the bidder can use one unit only.
        value_range: The lowest and the highest value that its type may have.
        money: What it can still pay in this episode; infinite without a budget.
        draw: A number in [0, 1), drawn for this bidder and round, for bidders that mix.
        rules: The mechanism's fields by name. ``reserve_price`` is None while it is secret.
        past: The last rounds, at most 20, oldest first.
    """

    type: str
    bidder: int
    bidders: int
    units: int
    round: int
    values: tuple[float, ...]
    value_range: tuple[float, float]
    money: float
    draw: float
    rules: dict[str, Any]
    past: tuple[PastRound, ...]

    @property
    def auction_type(self) -> AuctionType:
        """Return the format, one of ``AUCTION_TYPES``."""
        return cast("AuctionType", self.rules["auction_type"])

    @property
    def reserve(self) -> float | None:
        """Return the lowest bid that competes, or None while it is secret."""
        reserve: float | None = self.rules["reserve_price"]
        return reserve


@runtime_checkable
class Player(Protocol):
    """A bidder that is written in Python.

    It keeps nothing from round to round: what it knows of the past is in the view. A fork of a
    market copies what views show, and no player. So a player that remembered anything itself would
    go on in a fork with memories of the original.
    """

    def bid(self, view: View) -> float | Sequence[float]:
        """Return the bids of one bidder in one round.

        Args:
            view: What the bidder knows.

        Returns:
            A bid for a first unit, or also one for a second unit, which is no higher. Bids are in
            units of value, from 0 to ``HIGHEST_BID``; a bidder that bids 0 stays out.
        """
        ...


@runtime_checkable
class Preparing(Protocol):
    """A player that wants to see all views of a round before it bids, to think once for all."""

    def prepare(self, views: Sequence[View]) -> None:
        """Take the views of a round: those of all its seats in all markets that are played.

        There is at least one; a round in which it has no seat is not prepared.

        ``bid`` is asked for each of them afterwards. What it returns may not depend on which other
        views there were.
        """
        ...


class Disclosed(NamedTuple):
    """What all bidders are told of a round that is over; None is what they are not told.

    Attributes:
        price: The clearing price.
        winners: Numbers of the bidders that took a unit.
        bids: Bids above 0 with the numbers of their bidders, the highest first.
        summary: Statistics of all bids.
    """

    price: float | None
    winners: tuple[int, ...] | None
    bids: tuple[tuple[float, int], ...] | None
    summary: BidSummary | None


def disclosed(played: NDArray[np.void], price: float, flags: NDArray[np.bool_]) -> Disclosed:
    """Return what all bidders are told of a round that is over.

    Args:
        played: What the bidders did, dtype ``PLAYED``, shape (n,).
        price: The clearing price.
        flags: What is disclosed, in the order of ``DISCLOSURES``, shape (4,).
    """
    shows_price, shows_winners, shows_bids, shows_summary = flags.tolist()
    winners = tuple(np.flatnonzero(played["units"]).tolist()) if shows_winners else None
    bids = _bids_of(played) if shows_bids or shows_summary else ()
    return Disclosed(
        price if shows_price else None,
        winners,
        bids if shows_bids else None,
        _summary(bids) if shows_summary else None,
    )


def past_round_of(
    bidder: int, wanted: int, played: NDArray[np.void], public: Disclosed
) -> PastRound:
    """Return a round that is over as one bidder knows it.

    Args:
        bidder: Its number.
        wanted: Units that it can use, 1 or 2.
        played: What the bidders did, dtype ``PLAYED``, shape (n,).
        public: What all are told.
    """
    own, bids = played[bidder], public.bids
    return PastRound(
        values=(float(own["value_one"]), float(own["value_two"]))[:wanted],
        bids=(float(own["one"]), float(own["two"]))[:wanted],
        units=int(own["units"]),
        paid=float(own["paid"]),
        net=float(own["net"]),
        price=public.price,
        winners=public.winners,
        other_bids=None if bids is None else tuple(bid for bid, who in bids if who != bidder),
        summary=public.summary,
    )


def _bids_of(played: NDArray[np.void]) -> tuple[tuple[float, int], ...]:
    """Return all bids above 0 with the numbers of their bidders, the highest first."""
    bids = [(bid, who) for name in _BIDS for who, bid in enumerate(played[name].tolist()) if bid]
    return tuple(sorted(bids, reverse=True))


def _summary(bids: tuple[tuple[float, int], ...]) -> BidSummary:
    if not bids:
        return BidSummary(0, 0.0, 0.0)
    amounts = [bid for bid, _ in bids]
    return BidSummary(len(bids), float(np.mean(amounts)), float(np.std(amounts)))
