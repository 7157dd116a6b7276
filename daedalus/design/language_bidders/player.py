"""A bidder that a language model plays by the strategy method (Selten 1967).

Once a step it says what it bids at five values. In each round it bids what straight lines between
these give, and 0 for a value of 0. So an episode takes few calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from daedalus.design.language_bidders.asking import AskAll, Chat
from daedalus.design.language_bidders.bid_answer import POINTS, Bids, read_bids
from daedalus.design.language_bidders.questions import AGAIN, Questions, values
from daedalus.market.population import Population
from daedalus.market.views import View

_ABSTAINS = Bids((0.0,) * POINTS, 0)


@dataclass
class Read:
    """How answers could be read, counted over different questions.

    Attributes:
        repeated: Questions that were asked once more, because the first answer had no bids.
        unreadable: Of these, those whose second answer had none either; the bidder stays out.
        clipped: Bids outside 0 to 1 unit of value.
    """

    repeated: int = 0
    unreadable: int = 0
    clipped: int = 0


@dataclass
class StrategyPlayer:
    """The ``Player`` of a language model.

    A bid depends on the view alone: what it keeps are answers to questions, and equal questions
    have one answer. So forks of a market stay exact.

    Attributes:
        ask: Answers chats, and equal chats always alike.
        questions: Writes the chats.
        read: How the answers could be read.
    """

    ask: AskAll
    questions: Questions
    read: Read = field(default_factory=Read)
    _known: dict[str, Bids] = field(default_factory=dict)

    def prepare(self, views: Sequence[View]) -> None:
        """Ask for the bids of all views that are new, at once."""
        chats = [self.questions.chat(view) for view in views]
        new = {_name(chat): chat for chat in chats if _name(chat) not in self._known}
        if new:
            self._known |= dict(zip(new, self._answers(list(new.values())), strict=True))

    def bid(self, view: View) -> list[float]:
        """Return the bids for the view's values, the higher one first."""
        name = _name(self.questions.chat(view))
        if name not in self._known:
            self.prepare([view])
        places, amounts = (0.0, *values(view)), (0.0, *self._known[name].amounts)
        bids = np.interp(view.values, places, amounts)
        return sorted(bids.tolist(), reverse=True)

    def _answers(self, chats: list[Chat]) -> list[Bids]:
        """Return the bids of each chat; those without bids are asked once more, then abstain."""
        texts = self.ask(chats)
        bids = [read_bids(text) for text in texts]
        again = [place for place, each in enumerate(bids) if each is None]
        if again:
            said = self.ask([_once_more(chats[place], texts[place]) for place in again])
            for place, text in zip(again, said, strict=True):
                bids[place] = read_bids(text)
        found = [each or _ABSTAINS for each in bids]
        self.read.repeated += len(again)
        self.read.unreadable += bids.count(None)
        self.read.clipped += sum(each.clipped for each in found)
        return found


def in_all_seats(player: StrategyPlayer, population: Population) -> dict[str, StrategyPlayer]:
    """Return a player by each type that has bidders, as markets take players."""
    return {name: player for name, each in population.types.items() if each.share > 0}


def _name(chat: Chat) -> str:
    """Return what tells chats of one run apart."""
    return chat[-1]["content"]


def _once_more(chat: Chat, text: str) -> Chat:
    """Return the chat that follows on an answer without bids."""
    return [*chat, {"role": "assistant", "content": text}, {"role": "user", "content": AGAIN}]
