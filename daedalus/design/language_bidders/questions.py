"""The question to a bidder: what it knew when the step began, as text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from daedalus.checks import CannotRunError
from daedalus.design.language.prompt import Message
from daedalus.design.language_bidders.bid_answer import POINTS, SCALE
from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import EFFECTS
from daedalus.market.views import PastRound, View

SYSTEM = "You bid in auctions. You want as much profit as you can get."
AGAIN = f"Answer with one JSON array of {POINTS} numbers and nothing else, such as [1, 2, 3, 4, 5]."

_PAYS = {
    "first_price": "Winners pay their own bid.",
    "second_price": "Winners pay the highest losing bid.",
    "vcg": "Winners pay what the bids that they displace would have paid (Vickrey auction).",
}
_SHOWN = {
    "reveal_clearing_price": "the price",
    "reveal_winner_identity": "who won",
    "reveal_competing_bids": "all bids",
    "reveal_bid_distribution": "number, mean and deviation of the bids",
}


@dataclass(frozen=True)
class Questions:
    """Writes questions. Each depends only on what its bidder knew when the step began.

    Attributes:
        warmup: Rounds before the first step. They count as a step of their own.
        rounds: Rounds in a step.
        memory: Most rounds of the past that are told.
        facts: What all bidders are told beside what the market shows; empty is nothing.
    """

    warmup: int
    rounds: int
    memory: int
    facts: str = ""

    @classmethod
    def of(cls, market: MarketSettings, memory: int, facts: str) -> Questions:
        """Return the questions for a market.

        Raises:
            CannotRunError: Steps are so long that their last rounds no longer see that much.
        """
        most = max(HISTORY_LENGTH + 1 - market.rounds_per_step, 0)
        if memory > most:
            raise CannotRunError(
                f"bidder.memory: {memory}; bidders remember {HISTORY_LENGTH} rounds and a step has "
                f"{market.rounds_per_step}, so give at most {most}, or take shorter steps"
            )
        return cls(market.warmup_rounds, market.rounds_per_step, memory, facts)

    def chat(self, view: View) -> list[Message]:
        """Return the question to the bidder of a view, see ``values``.

        Raises:
            CannotRunError: The bidder has a budget, and steps are too long to know what it paid.
        """
        since, asked = self._rounds_since_start(view), [_points(each) for each in values(view)]
        lines = [
            *_rules(view),
            self.facts,
            *self._means(view, since),
            *self._past(view, since),
            f"The next {self._length(view)} rounds are played by your answer.",
            f"Write a JSON array of {POINTS} numbers: your bids if your value is "
            f"{', '.join(asked[:-1])} and {asked[-1]}.",
        ]
        text = "\n".join(line for line in lines if line)
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": text}]

    def _rounds_since_start(self, view: View) -> int:
        """Return how many rounds of the view's step are over."""
        if view.round < self.warmup:
            return view.round
        return (view.round - self.warmup) % self.rounds

    def _length(self, view: View) -> int:
        return self.warmup if view.round < self.warmup else self.rounds

    def _past(self, view: View, since: int) -> list[str]:
        """Return a line for each round that is told, oldest first."""
        known = len(view.past) - since
        told = view.past[max(known - self.memory, 0) : max(known, 0)]
        lines = [_told(each, view.bidder) for each in told]
        return ["Your last rounds, oldest first:", *lines] if lines else []

    def _means(self, view: View, since: int) -> list[str]:
        """Return what the bidder could pay when the step began, if it has a budget."""
        if view.money == np.inf:
            return []
        if since > len(view.past):
            raise CannotRunError(
                f"a step or the warm-up has {since} rounds; bidders with a budget need "
                f"{HISTORY_LENGTH + 1} or fewer in market.rounds_per_step and before the first step"
            )
        paid = sum(each.paid for each in view.past[len(view.past) - since :])
        return [f"You can still pay {_points(view.money + paid)} in all."]


def values(view: View) -> tuple[float, ...]:
    """Return the five values for which a bidder is asked, even over the range of its type.

    The lowest value is one of them, unless it is 0, at which nobody bids.
    """
    low, high = view.value_range
    return tuple(np.linspace(low, high, POINTS + (low == 0.0))[-POINTS:].tolist())


def _rules(view: View) -> list[str]:
    """Return the rules in words, as far as the bidder may know them."""
    low, high = map(_points, view.value_range)
    units = "1 item is" if view.units == 1 else f"{view.units} equal items are"
    most = "the highest bid wins" if view.units == 1 else f"the {view.units} highest bids win"
    wanted = (
        ""
        if len(view.values) == 1
        else " You can use two; your answer holds for each, by its value."
    )
    return [
        f"In every round {units} for sale to {view.bidders} sealed bidders, you and "
        f"{view.bidders - 1} others; {most}. {_pays(view.auction_type)}{wanted}",
        _reserve(view),
        f"Your value of an item is drawn anew in every round, from {low} to {high}. Your profit "
        "is your value less what you pay if you win, and 0 if you do not. A bid of 0 stays out.",
        _disclosure(view),
    ]


def _pays(kind: str) -> str:
    """Return what winners pay; of a format without words here, what its author wrote."""
    return _PAYS.get(kind, f"The format is {kind}: {EFFECTS['auction_type']}.")


def _reserve(view: View) -> str:
    if view.reserve is None:
        return "Bids below a secret reserve price do not win, and winners pay at least that."
    if view.reserve == 0.0:
        return ""
    return f"Bids below {_points(view.reserve)} do not win, and winners pay at least that."


def _disclosure(view: View) -> str:
    shown = [words for name, words in _SHOWN.items() if view.rules[name]]
    return f"After a round you are told {' and '.join(shown) or 'only whether you won'}."


def _told(past: PastRound, bidder: int) -> str:
    """Return a round that is over in one line, as far as its bidder was told of it."""
    won = f"won {past.units} and paid {_points(past.paid)}" if past.units else "won nothing"
    parts = [f"value {_listed(past.values)}, you bid {_listed(past.bids)} and {won}"]
    if past.price is not None:
        parts.append(f"price {_points(past.price)}")
    if past.winners is not None:
        names = ["you" if each == bidder else f"bidder {each + 1}" for each in past.winners]
        parts.append(f"winners: {', '.join(names) or 'nobody'}")
    if past.other_bids is not None:
        parts.append(f"other bids: {_listed(past.other_bids) or 'none'}")
    if past.summary is not None:
        mean, deviation = _points(past.summary.mean), _points(past.summary.deviation)
        parts.append(f"{past.summary.number} bids, mean {mean}, deviation {deviation}")
    return "; ".join(parts)


def _listed(amounts: tuple[float, ...]) -> str:
    return ", ".join(map(_points, amounts))


def _points(amount: float) -> str:
    """Return an amount in whole points."""
    return f"{SCALE * amount:.0f}"
