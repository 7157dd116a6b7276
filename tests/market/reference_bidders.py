"""Bidders, rings and sales of the plain strategic market, and the numbers of its draws.

The numbers of the draws are written out once more: they must not change.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from daedalus.market.population import BidderType
from tests.market.reference_classic import draw
from tests.market.reference_values import Values

VALUE_ONE, VALUE_TWO, ENTRY, REDUCE, SHOCK, COLLUDE, EXPOSED, TIE = range(8)
LOT, COVER, SHILL, LEVEL, SCREEN, NAME_SCREEN, READ = range(7)
CHOICE, EXPLORE = range(2)
RATE, RIVALS = range(2)
SECOND_BANK, RING_BANK, LEARNER_BANK, TIE_BANK = 64, 160, 192, 256
TRAITS_ROUND = -2


@dataclass(eq=False)
class Bidder:
    type: BidderType
    seat: int
    shill_gain: float
    reduction_gain: float
    seed: int
    rivals_seen: float = 1.0
    spent: float = 0.0
    pacing: float = 0.0
    surplus: float = 0.0
    units_won: float = 0.0
    won_last: int = 0
    choice: int = 0
    wins: int = 0
    values: tuple[float, float] = (0.0, 0.0)
    solo: tuple[float, float] = (0.0, 0.0)
    entered: bool = True
    covers: bool = False
    leads: bool = False
    purse: float = math.inf
    alias: float = 0.0
    net: float = 0.0
    delivered: int = 0
    ring: Ring | None = None

    def __post_init__(self) -> None:
        self.belief = Values(self.type)
        self.expected_surplus = self.type.expected_surplus
        rate = self.type.learning_rate * self.differs(self.type.rate_spread, RATE)
        self.learning_rate = min(rate, 1.0)
        rivals = self.type.rivals * self.differs(self.type.rivals_spread, RIVALS)
        self.rivals_distance = 1 / min(max(rivals, 0.01), 100.0)
        actions, surplus = self.type.factors, self.type.expected_surplus / (1 - self.type.discount)
        self.weights = [1 / actions] * actions
        self.values_of = [[surplus] * actions + [self.type.discount * surplus] for _ in range(2)]

    def differs(self, spread: float, trait: int) -> float:
        """By what this bidder differs from others of its type."""
        place = 2 * draw(self.seed, TRAITS_ROUND, self.seat, trait) - 1  # from -1 to 1
        return spread**place

    @property
    def table(self) -> list[float]:
        """What the kernel keeps of a learner's choices, in its order."""
        lost, won = self.values_of
        return {"gradient": [], "hedge": self.weights, "q": lost + won}[self.type.learner]

    @property
    def actions(self) -> int:
        return self.type.factors + self.may("opt_out")

    def factor(self, choice: int) -> float:
        highest = self.type.highest_factor
        step = (highest - self.type.lowest_factor) / (self.type.factors - 1)
        return max(highest - choice * step, 0.0)

    @property
    def rivals(self) -> float:
        return self.rivals_seen / self.rivals_distance

    def may(self, strategy: str) -> bool:
        return strategy in self.type.menu


@dataclass(eq=False)
class Ring:
    number: int
    type: BidderType
    gain: float
    punished: int = 0
    colluded: bool = False
    evidence: float = 0.0


@dataclass
class Sale:
    """Competing bids with their owners, best first; units and payments by owner, and the price."""

    ranked: list[tuple[float, int]]
    won: Counter = field(default_factory=Counter)
    paid: Counter = field(default_factory=Counter)
    price: float = 0.0


Bids = list[tuple[float, float]]
