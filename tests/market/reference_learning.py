"""Learning in the plain strategic market, rule by rule."""

from __future__ import annotations

import math
from collections import Counter

from daedalus.market.mechanism import Mechanism
from daedalus.market.parameters import StrategicParameters
from tests.market.reference_bidders import READ, SECOND_BANK, Bidder, Bids, Sale
from tests.market.reference_formulas import known_reserve, uniform_price_surplus
from tests.market.reference_payments import ONE_PRICE, forgone


class Learning:
    """The part of an episode in which bidders learn; see ``ReferenceEpisode``."""

    p: StrategicParameters
    units: int
    bidders: list[Bidder]
    bids: Bids
    events: Counter

    def learn_bidding(self, b: Bidder, m: Mechanism, sale: Sale) -> None:
        if not b.may("shade") or not b.entered or b.covers or b.leads:
            return
        lost = sale.won[b.seat] == 0
        told = m.reveal_clearing_price and lost == (m.auction_type == "first_price")
        if b.type.learner == "hedge" and m.auction_type == "first_price" and not lost:
            told = m.reveal_clearing_price
        weight = self.p.price_weight if told else 0.0
        weight += self.p.distribution_weight if m.reveal_bid_distribution else 0.0
        if m.reveal_competing_bids:
            weight = 1.0
        if weight == 0:
            self.note("nothing to learn from")
            return
        mine = (b.seat, len(self.bidders) + b.seat)
        others = [bid for bid, owner in sale.ranked if owner not in mine] + [0.0] * self.units
        lowest = others[self.units - 1]
        above = others[self.units - 2] if self.units > 1 else 0.0
        if not m.reveal_competing_bids and not m.reveal_bid_distribution:
            self.note("only the price is told")
            lowest = above = sale.price
        if m.reveal_bid_distribution and not m.reveal_competing_bids:
            self.note("noisy reading")
            error = 2 * self.draw(SECOND_BANK + b.seat, READ) - 1
            lowest *= 1 + self.p.distribution_noise * error
            above *= 1 + self.p.distribution_noise * error
        if b.type.learner == "hedge":
            own = self.bids[b.seat][0] == b.solo[0]
            alone = m.reserve_price if m.reveal_reserve else sale.price
            to_beat = [max(bid, known_reserve(m)) if bid else alone for bid in (lowest, above)]
            self.learn_factors(b, m, to_beat, lost and own, weight)
        gain = min(b.learning_rate * weight, 1.0)

        rival = lowest
        if lowest > 0 and m.auction_type == "first_price":
            rival = b.belief.unshaded(lowest, b.rivals, known_reserve(m))
        floor, level = max(b.belief.level(known_reserve(m)), 0.02), b.belief.level(rival)
        if level <= floor:
            self.note("rivals below the reserve")
        distance = -math.log(min(max(level, floor), 1.0))
        b.rivals_seen = max(b.rivals_seen + gain * ((level > floor) - b.rivals_seen), 0.01)
        b.rivals_distance = max(b.rivals_distance + gain * (distance - b.rivals_distance), 0.01)

        fits = b.type.learner == "gradient"
        if fits and m.auction_type in ONE_PRICE and b.values[1] > 0:
            low, high = max(lowest, known_reserve(m)), max(above, known_reserve(m))
            reduced = uniform_price_surplus(b.values, 0.0, low, high)
            full = uniform_price_surplus(b.values, b.values[1], low, high)
            b.reduction_gain += gain * (reduced - full - b.reduction_gain)

    def learn_factors(
        self, b: Bidder, m: Mechanism, to_beat: list[float], lost: bool, weight: float
    ) -> None:
        """Multiply a Hedge shader's weights by what its factors would have earned."""
        payoffs = []
        for choice in range(b.type.factors):
            one, two = (b.factor(choice) * value / (1 + b.pacing) for value in b.values)
            one = min(one, b.purse)
            bids = one, min(two, b.purse - one)
            if lost and choice >= b.choice:
                self.note("a lost bid tells that lower ones lose")
                payoffs.append(0.0)
            else:
                payoffs.append(forgone(m.auction_type, b.values, bids, *to_beat))
        rate, share = b.type.hedge_rate * weight, b.type.hedge_share
        pairs = zip(b.weights, payoffs, strict=True)
        grown = [weight * math.exp(rate * (payoff - max(payoffs))) for weight, payoff in pairs]
        b.weights = [(1 - share) * each / sum(grown) + share / len(grown) for each in grown]

    def learn_values(self, b: Bidder, m: Mechanism) -> None:
        """Let a Q-learner learn from the round, if what it chose is what it did."""
        if b.type.learner != "q":
            return
        won = int(b.delivered > 0 and b.type.recalls_win)
        own = not b.entered or self.bids[b.seat][0] == b.solo[0]
        if own and not b.covers and not b.leads:
            reward = b.net - self.entry_cost(m) if b.entered else 0.0
            following = max(b.values_of[won][: b.actions])
            values = b.values_of[b.won_last]
            target = reward + b.type.discount * following
            values[b.choice] += b.learning_rate * (target - values[b.choice])
        else:
            self.note("Q-learner does as its ring does")
        b.won_last = won

    def learn_shilling(self, m: Mechanism, sale: Sale) -> None:
        names = [b for b in self.bidders if b.alias]
        if not names:
            return
        n = len(self.bidders)
        without = self.sell(m, self.bids, with_aliases=False)
        for b in names:
            others = [i for i in range(n) if i != b.seat]
            added = sum(sale.paid[i] - without.paid[i] for i in others)
            earned = self.p.shill_share * added / len(names)
            if sale.won[n + b.seat]:
                earned -= self.p.fine_unit * m.withdrawal_penalty
            b.net += earned
            b.shill_gain += self.p.shill_gain * (earned - b.shill_gain)

    def learn_expected_surplus(self, b: Bidder, m: Mechanism, price: float) -> None:
        gained = b.net
        if not b.entered:
            if not m.reveal_clearing_price or (price == 0 and not m.reveal_reserve):
                return
            self.note("absent bidder sees the price")
            cost = max(price, known_reserve(m))
            gained = max(b.values[0] - cost, 0.0)
            if m.auction_type == "first_price":
                gained = b.values[0] - b.solo[0] if b.solo[0] > cost else 0.0
        b.expected_surplus += self.p.entry_gain * (gained - b.expected_surplus)
