"""A scripted bidder behind the strategy method, and views; helpers for tests, not a test."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from daedalus.design.language_bidders.asking import Chat
from daedalus.design.language_bidders.player import StrategyPlayer
from daedalus.design.language_bidders.questions import Questions
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.population import BidderType, Population
from daedalus.market.views import PastRound, View

ALIKE = BidderType(menu=["shade"], demand=1, rivals=None, learning_rate=0.0)
"""Bidders for one unit who know their number and never learn."""

THREE = Population(bidders=3, units=1, types={"bidder": ALIKE})

_ASKED = re.compile(r"if your value is ([\d, ]+) and (\d+)\.")
FIRST_PRICE = "Winners pay their own bid."

Script = Callable[[str, list[float]], object]
"""From a question and its values in points to bids in points."""


def asked_values(question: str) -> list[float]:
    """Return the values that a question names, in points."""
    found = _ASKED.search(question)
    assert found is not None
    return [float(each) for each in [*found[1].split(", "), found[2]]]


def equilibrium(question: str, values: list[float]) -> list[float]:
    """Bid the equilibrium of three bidders with even values: two thirds in first price."""
    share = 2 / 3 if FIRST_PRICE in question else 1.0
    return [share * each for each in values]


def scripted(script: Script, market: MarketSettings, memory: int = 5) -> StrategyPlayer:
    """Return a player whose model answers by a script."""

    def ask(chats: Sequence[Chat]) -> list[str]:
        texts = [chat[1]["content"] for chat in chats]
        return [json.dumps(script(text, asked_values(text))) for text in texts]

    return StrategyPlayer(ask, Questions.of(market, memory, ""))


def view(**changes: object) -> View:
    """Return what a bidder knows before its first round."""
    usual: dict[str, object] = {
        "type": "bidder",
        "bidder": 0,
        "bidders": 3,
        "units": 1,
        "round": 0,
        "values": (0.5,),
        "value_range": (0.0, 1.0),
        "money": float("inf"),
        "draw": 0.0,
        "rules": Mechanism(reveal_reserve=True).to_dict(),
        "past": (),
    }
    return View(**(usual | changes))  # type: ignore[arg-type]


def past(value: float = 0.4, paid: float = 0.0, **changes: object) -> PastRound:
    """Return a round that is over, of which only the price was told."""
    usual: dict[str, object] = {
        "values": (value,), "bids": (value / 2,), "units": int(paid > 0), "paid": paid, "net": 0.0,
        "price": 0.3, "winners": None, "other_bids": None, "summary": None,
    }  # fmt: skip
    return PastRound(**(usual | changes))  # type: ignore[arg-type]
