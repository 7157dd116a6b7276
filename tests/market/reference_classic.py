"""The classic market for one episode in plain Python, written from the published rules.

Slow, scalar and obvious on purpose: the kernels are compared with it.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass

import numpy as np

from daedalus.market.mechanism import Mechanism
from daedalus.market.seat_plan import SeatPlan
from tests.market.reference_payments import payment
from tests.market.reference_values import Values

VALUE, POLICY, RISK, BID = range(4)
_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15


def mix(word: int) -> int:
    """SplitMix64's finaliser on a 64-bit integer."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & _MASK
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & _MASK
    return word ^ (word >> 31)


def draw(seed: int, round_number: int, seat: int, purpose: int) -> float:
    """The uniform draw on [0, 1) of one seat in one round."""
    key = mix((mix((seed + _GOLDEN) & _MASK) + round_number * _GOLDEN) & _MASK)
    counter = 8 * seat + purpose + 1
    return (mix((key + counter * _GOLDEN) & _MASK) >> 11) / 2**53


@dataclass
class Bidder:
    kind: str
    values: Values
    threshold: float
    budget: float
    partner: Bidder | None = None
    turn: bool = False
    active: bool = True
    value: float = 0.0
    bid: float = 0.0
    surplus: float = 0.0
    satisfaction: float = 0.0
    wins: int = 0


def seat_bidders(population: SeatPlan) -> list[Bidder]:
    bidders = []
    for name in population.seat_groups():
        g = population.groups[name]
        bidders.append(Bidder(g.kind, Values(g), g.threshold, g.budget))
    for g in population.groups.values():
        if g.kind == "colluder":
            first, second = (bidders[seat] for seat in g.seats)
            first.partner, second.partner = second, first
            first.turn = True
    return bidders


class ReferenceEpisode:
    """One episode; ``events`` counts the rare things, so that tests can see they happened."""

    def __init__(self, population: SeatPlan, seed: int) -> None:
        self.bidders = seat_bidders(population)
        self.seed = int(seed)
        self.prices: list[float] = []
        self.participation: list[float] = []
        self.welfare: list[float] = []
        self.events: dict[str, int] = {}

    def play(self, mechanism: Mechanism, rounds: int) -> list[dict[str, float]]:
        return [self.play_round(mechanism) for _ in range(rounds)]

    def play_round(self, m: Mechanism) -> dict[str, float]:
        present = [b for b in self.bidders if b.active]
        for seat, bidder in enumerate(self.bidders):
            bidder.bid = 0.0
            if bidder.active:
                bidder.value = bidder.values.at(self.draw(seat, VALUE))
                bidder.bid = self.bid(seat, bidder, m, len(present))

        competing = sorted((b for b in present if b.bid >= m.reserve_price), key=lambda b: -b.bid)
        price = 0.0
        if competing:
            price = self.sell(competing, m)
        else:
            self.note("no sale")
        self.come_and_go(m)

        welfare = 0.0
        if competing:
            welfare = min(1.0, competing[0].value / max(b.value for b in self.bidders))
        self.welfare.append(welfare)
        record = self.metrics(welfare, present)
        record["clearing_price"] = record["revenue"] = price
        record["revenue_share"] = min(1.0, price / competing[0].value) if competing else 0.0
        record["dropouts"] = sum(not b.active for b in self.bidders)
        self.prices.append(price)
        self.participation.append(record["participation"])
        return record

    def bid(self, seat: int, bidder: Bidder, m: Mechanism, present: int) -> float:
        v, first_price = bidder.value, m.auction_type == "first_price"
        if bidder.kind == "truthful":
            return v
        if bidder.kind == "shader":
            if not first_price:
                return v * (1 - (0.02 + 0.03 * self.draw(seat, BID)))
            factor = (present - 1) / max(present, 2)
            factor -= 0.03 if m.reveal_clearing_price else 0
            factor -= 0.05 if m.reveal_competing_bids else 0
            if len(self.prices) > 2 and statistics.fmean(self.prices[-5:]) < 0.7 * v:
                self.note("shader sees cheap prices")
                factor -= 0.05
            return float(np.clip(factor, 0.5, 0.95)) * v
        if bidder.kind == "colluder":
            return self.colluder_bid(seat, bidder, m, first_price)
        if bidder.kind == "dropout":
            expected = v - m.reserve_price - 0.05
            bidder.satisfaction += 0.1 * expected if expected > 0 else -0.02
            if bidder.satisfaction < -bidder.threshold:
                self.note("dropout leaves in disappointment")
                bidder.active = False
            elif m.reserve_price > 0.9 * v:
                self.note("dropout leaves for the reserve")
                bidder.active = False
            if not bidder.active:
                return 0.0
            return 0.9 * v if first_price else v
        if bidder.budget <= 0:
            self.note("exploiter leaves")
            bidder.active = False
            return 0.0
        self.note("exploiter is rich" if bidder.budget > 1.5 else "exploiter is poor")
        return min(v * (0.6 if bidder.budget > 1.5 else 0.3), 0.3 * bidder.budget)

    def colluder_bid(self, seat: int, bidder: Bidder, m: Mechanism, first_price: bool) -> float:
        may = m.coalition_policy == "allow" or (
            m.coalition_policy == "restrict" and self.draw(seat, POLICY) > 0.5
        )
        risk = 0.4 if m.collusion_penalty > 1 else 0.0
        if not may or self.draw(seat, RISK) <= risk:
            self.note("colluder competes")
            return (0.85 if first_price else 0.98) * bidder.value
        self.note("colluder colludes")
        if m.reveal_winner_identity:
            return m.reserve_price + 0.01 if bidder.turn else 0.3 * m.reserve_price
        if not bidder.turn:
            return 0.5 * m.reserve_price
        opening = m.reserve_price + 0.02 + 0.05 * self.draw(seat, BID)
        return min(bidder.value, max(opening, 0.5 * bidder.value))

    def sell(self, competing: list[Bidder], m: Mechanism) -> float:
        """Settle with the first of the ranked competing bidders and return the price."""
        winner = competing[0]
        losing = [each.bid for each in competing[1:]] + [m.reserve_price] * 2
        price = payment(m.auction_type, [winner.bid], losing, losing)
        winner.wins += 1
        winner.surplus = winner.value - price
        if winner.kind == "exploiter":
            self.note("exploiter pays")
            winner.budget -= price
        partner = winner.partner
        if partner is not None and m.collusion_penalty > 0:
            if partner.active and partner.bid < 0.8 * m.reserve_price:
                self.note("ring is fined")
                winner.surplus -= 0.3 * price * m.collusion_penalty
        return price

    def come_and_go(self, m: Mechanism) -> None:
        recent = self.participation[-3:]
        for bidder in self.bidders:
            if bidder.kind == "colluder":
                bidder.turn = not bidder.turn
            if bidder.kind == "dropout" and not bidder.active:
                crowded = len(self.participation) > 3 and statistics.fmean(recent) > 0.6
                if crowded and m.reserve_price < 0.3:
                    self.note("dropout returns")
                    bidder.active, bidder.satisfaction = True, 0.0
            if bidder.kind == "exploiter" and bidder.budget <= 0:
                bidder.active = False

    def metrics(self, welfare: float, present: list[Bidder]) -> dict[str, float]:
        inequality = gini([max(b.surplus, 0.0) for b in present])
        participation, steady = len(present) / len(self.bidders), stability(self.welfare)
        signal = collusion_signal([b.bid for b in present], [b.wins for b in self.bidders])
        discount = max(0.5, 1 - signal / 2) if signal > 0.5 else 1.0
        if discount < 1:
            self.note("collusion discount")
        return {
            "welfare": welfare,
            "gini": inequality,
            "participation": participation,
            "stability": steady,
            "collusion_signal": signal,
            "composite": welfare * (1 - inequality) * participation * steady * discount,
        }

    def draw(self, seat: int, purpose: int) -> float:
        return draw(self.seed, len(self.prices), seat, purpose)

    def note(self, event: str) -> None:
        self.events[event] = self.events.get(event, 0) + 1


def stability(welfares: list[float]) -> float:
    """How little welfare varied over the last five rounds."""
    return max(0.0, 1 - 3 * float(np.std(welfares[-5:]))) if len(welfares) >= 5 else 1.0


def collusion_signal(bids: list[float], wins: list[int]) -> float:
    """How alike the bids are and how evenly wins rotate."""
    positive = np.array([bid for bid in bids if bid > 0])
    if len(positive) < 2:
        return 0.0
    alike = max(0.0, 1 - 3 * positive.std() / positive.mean())
    shares = np.array([each for each in wins if each > 0]) / max(1, sum(wins))
    entropy = -(shares * np.log2(shares)).sum()
    evenness = min(1.0, entropy / np.log2(len(wins)))  # more is rounding
    return float(0.5 * (alike + evenness))


def gini(amounts: list[float]) -> float:
    n, total = len(amounts), sum(amounts)
    if total == 0:
        return 0.0
    ranked = enumerate(sorted(amounts), start=1)
    return sum((2 * i - n - 1) * x for i, x in ranked) / (n * total)
