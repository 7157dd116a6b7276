"""The strategic market for one episode in plain Python, rule by rule.

Slow, scalar and obvious on purpose: the kernels are compared with it.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from daedalus.market.mechanism import Mechanism
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType
from tests.market.reference_classic import draw

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
    seed: int
    rivals_seen: float = 1.0
    reduction_gain: float = -0.01
    spent: float = 0.0
    pacing: float = 0.0
    surplus: float = 0.0
    units_won: float = 0.0
    won_last: int = 0
    choice: int = 0
    wins: int = 0
    values: tuple[float, float] = (0.0, 0.0)
    sincere: tuple[float, float] = (0.0, 0.0)
    entered: bool = True
    covers: bool = False
    leads: bool = False
    purse: float = math.inf
    alias: float = 0.0
    net: float = 0.0
    delivered: int = 0
    ring: Ring | None = None

    def __post_init__(self) -> None:
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
        step = (1 - self.type.lowest_factor) / (self.type.factors - 1)
        return max(1 - choice * step, 0.0)

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


class ReferenceEpisode:
    """One episode; ``events`` counts the rare things, so that tests can see they happened."""

    def __init__(
        self, seats: list[BidderType], units: int, parameters: StrategicParameters, seed: int
    ) -> None:
        self.units, self.p, self.seed = units, parameters, int(seed)
        self.bidders = [
            Bidder(t, i, parameters.shill_prior, self.seed) for i, t in enumerate(seats)
        ]
        self.rings: list[Ring] = []
        self.price_expected = 0.5
        self.welfare: list[float] = []
        self.believed_welfare: list[float] = []
        self.accounts: list[dict[str, float]] = []
        self.sightings = np.zeros(5)
        self.bids: Bids = [(0.0, 0.0)] * len(seats)
        self.bids_before = self.bids
        self.events: Counter = Counter()

    def form_rings(self, types: list[BidderType]) -> None:
        """Give every type that may collude a ring, in the order of the types."""
        for each in types:
            if "collude" in each.menu:
                self.rings.append(Ring(len(self.rings), each, self.p.ring_prior))
                for bidder in self.bidders:
                    if bidder.type is each:
                        bidder.ring = self.rings[-1]

    def play(self, mechanism: Mechanism, rounds: int) -> list[dict[str, float]]:
        return [self.play_round(mechanism) for _ in range(rounds)]

    def play_round(self, m: Mechanism) -> dict[str, float]:
        for bidder in self.bidders:
            bidder.covers = bidder.leads = False
            bidder.values = self.draw_values(bidder)
            bidder.choice = self.choose(bidder)
            bidder.entered = self.enters(bidder, m)
            bidder.sincere = self.sincere_bid(bidder, m)
            bidder.alias = self.false_name(bidder, m)
        if not any(b.entered for b in self.bidders):
            self.note("nobody enters")
        bids = [b.sincere if b.entered else (0.0, 0.0) for b in self.bidders]
        for ring in self.rings:
            bids = self.play_ring(ring, m, bids)
        self.bids_before, self.bids = self.bids, bids

        sale = self.sell(m, bids)
        self.note_sale(sale, m)
        for bidder in self.bidders:
            self.learn_bidding(bidder, m, sale)
        value, revenue = self.settle(m, sale)
        self.punish(m)
        self.learn_shilling(m, sale)
        for bidder in self.bidders:
            self.learn_expected_surplus(bidder, m, sale.price)
            self.learn_values(bidder, m)
        public = m.reveal_clearing_price or m.reveal_competing_bids or m.reveal_bid_distribution
        if sale.price > 0 and not public:
            self.note("nobody knows the price")
        if sale.price > 0 and public:
            self.price_expected += self.p.price_gain * (sale.price - self.price_expected)
        return self.record(m, sale, value, revenue)

    # ---------------------------------------------------------------- values, entry and bids

    def draw_values(self, b: Bidder) -> tuple[float, float]:
        low, high = b.type.value_low, b.type.value_high
        one = low + (high - low) * self.draw(b.seat, VALUE_ONE)
        if b.type.demand == 1 or self.units == 1:
            return one, 0.0
        two = low + (high - low) * self.draw(b.seat, VALUE_TWO)
        return max(one, two), min(one, two)

    def entry_cost(self, m: Mechanism) -> float:
        p, cost = self.p, self.p.entry_cost
        cost += 0 if m.reveal_reserve else p.secret_reserve_cost
        cost += 0 if m.reveal_winner_identity else p.secret_winner_cost
        cost += 0 if m.reveal_clearing_price else p.secret_price_cost
        cost += p.exposed_bids_cost if m.reveal_competing_bids else 0
        if not m.reveal_competing_bids and not m.reveal_bid_distribution:
            cost += p.secret_statistics_cost
            if m.auction_type == "vcg" and self.units > 1:
                self.note("unverified prices")
                cost += p.unverified_cost
        return cost + (p.compliance_cost if m.coalition_policy == "restrict" else 0)

    def choose(self, b: Bidder) -> int:
        """Return which factor it bids, or the number of factors for staying out."""
        draw = self.draw(LEARNER_BANK + b.seat, CHOICE)
        if b.type.learner == "hedge":
            for choice, weight in enumerate(b.weights):
                draw -= weight
                if draw < 0:
                    return choice
            return b.type.factors - 1
        if b.type.learner == "q":
            if self.draw(LEARNER_BANK + b.seat, EXPLORE) < b.type.exploration:
                self.note("exploration")
                return int(draw * b.actions)
            values = b.values_of[b.won_last][: b.actions]
            return values.index(max(values))
        return 0

    def enters(self, b: Bidder, m: Mechanism) -> bool:
        if b.type.learner == "q":
            if b.choice == b.type.factors:
                self.note("Q-learner stays out")
            return b.choice < b.type.factors
        if not b.may("opt_out"):
            return True
        willing = logistic((b.expected_surplus - self.entry_cost(m)) / self.p.entry_scale)
        return self.draw(b.seat, ENTRY) < self.p.entry_floor + (1 - self.p.entry_floor) * willing

    def sincere_bid(self, b: Bidder, m: Mechanism) -> tuple[float, float]:
        one, two = b.values
        fits = b.may("shade") and b.type.learner == "gradient"
        if b.type.learner != "gradient":
            one, two = one * b.factor(b.choice), two * b.factor(b.choice)
        if fits and m.auction_type == "first_price":
            one = shaded(one, b.rivals, known_reserve(m))
            two = shaded(two, b.rivals, known_reserve(m))
        if fits and m.auction_type == "second_price" and two > 0:
            reduces = logistic(b.reduction_gain / self.p.reduction_scale)
            if self.draw(b.seat, REDUCE) < reduces:
                self.note("demand reduction")
                two = 0.0
        if b.type.budget is None:
            return one, two
        left = b.type.budget - b.spent
        left = b.purse = left if left > 1e-9 else 0.0
        paced_one, paced_two = one / (1 + b.pacing), two / (1 + b.pacing)
        if b.pacing > 0:
            self.note("paced bid")
        if left == 0:
            self.note("budget is spent")
        elif left < paced_one + paced_two:
            self.note("budget cap")
        one = min(paced_one, left)
        return one, min(paced_two, left - one)

    def false_name(self, b: Bidder, m: Mechanism) -> float:
        if not b.may("shill") or not b.entered or m.auction_type == "first_price":
            return 0.0
        p = self.p
        expected = b.shill_gain - p.shill_hit * p.fine_unit * m.shill_penalty
        if self.draw(SECOND_BANK + b.seat, SHILL) >= logistic(expected / p.shill_scale):
            self.note("exploiter is honest")
            return 0.0
        self.note("false name")
        if m.reveal_competing_bids:
            spread = p.shill_spread_bids
        elif m.reveal_bid_distribution:
            spread = p.shill_spread_distribution
        elif m.reveal_clearing_price:
            spread = p.shill_spread_price
        else:
            spread = p.shill_spread_blind
        error = spread * (2 * self.draw(SECOND_BANK + b.seat, LEVEL) - 1)
        bid = self.price_expected * (1 + error)
        if bid < 0.02:
            self.note("smallest false name")
        return max(bid, 0.02)

    # ------------------------------------------------------------------------------- rings

    def play_ring(self, ring: Ring, m: Mechanism, bids: Bids) -> Bids:
        """Return everybody's bids after the ring has decided what to do."""
        p = self.p
        ring.colluded = False
        if ring.punished > 0:
            self.note("ring is punished")
            ring.punished -= 1
            return bids
        members = [b for b in self.bidders if b.ring is ring and b.entered]
        size = len(members)
        if size < 2:
            self.note("ring too small")
            return bids
        leaders = self.choose_leaders(ring, members)
        covers = [b for b in members if b not in leaders]
        together = self.bid_together(m, members, leaders, bids)

        ring.evidence = self.evidence(ring, covers, together, m.reserve_price)
        expected = self.evidence(ring, covers, together, known_reserve(m))
        if expected != ring.evidence:
            self.note("covers look less serious than the ring thinks")
        risk = self.accusation(m, expected) - self.accusation(m, 0.0)
        risk *= p.collusion_fine_unit * m.collusion_penalty * len(leaders) / size
        chance = logistic((ring.gain - risk) / p.ring_scale)
        if m.coalition_policy == "restrict":
            chance *= p.restrict_factor
        ring.colluded = self.draw(RING_BANK + ring.number, COLLUDE) < chance

        apart = self.gains(members, self.sell(m, bids))
        own = sorted((bid for b in members for bid in together[b.seat]), reverse=True)
        floor = max((own + [0.0] * self.units)[self.units - 1], known_reserve(m))
        exposure = p.monitoring_base
        exposure += p.monitoring_winner if m.reveal_winner_identity else 0
        exposure += p.monitoring_bids if m.reveal_competing_bids else 0
        stake = exposure * p.ring_patience / (1 - p.ring_patience) * max(ring.gain, 0.0)
        abroad = (len(self.bidders) - size) / (len(self.bidders) - 1)
        deviators = [b for b in covers if temptation(b, abroad, floor) > stake]
        for b in deviators:
            one, two = b.sincere
            if m.auction_type == "first_price":
                above = shaded(b.values[0], abroad * b.rivals, floor) + 0.01
                one = min(b.values[0], above, b.purse)
                two = min(two, one, b.purse - one)
            together[b.seat] = one, two
        gained = (self.gains(members, self.sell(m, together)) - apart) / size

        weight = 1.0
        if not m.reveal_competing_bids:
            weight = p.price_weight if m.reveal_clearing_price else 0.0
            weight += p.distribution_weight if m.reveal_bid_distribution else 0.0
        ring.gain += p.ring_gain * weight * (gained - ring.gain)
        if not ring.colluded:
            self.note("ring competes")
            return bids
        self.note("ring colludes")
        for b in leaders:
            b.leads = True
        for b in covers:
            b.covers = b not in deviators
        if deviators:
            self.note("deviation")
            if self.draw(RING_BANK + ring.number, EXPOSED) < p.breakdown:
                self.note("breakdown")
                ring.punished = int(p.punishment_rounds)
        return together

    def evidence(self, ring: Ring, covers: list[Bidder], bids: Bids, reserve: float) -> float:
        """What is left of the screen if covers from the reserve up look serious."""
        serious = [b for b in covers if 0 < bids[b.seat][0] >= reserve]
        seriousness = len(serious) / len(covers) if covers else 1.0
        return (1 - self.p.camouflage * seriousness) * (1 - ring.type.discretion)

    def choose_leaders(self, ring: Ring, members: list[Bidder]) -> list[Bidder]:
        """Return the strongest members, or some by lot: the ring's share of the units in number."""
        number = math.ceil(len(members) * self.units / len(self.bidders))
        strongest = sorted(members, key=lambda b: -b.values[0])
        if not ring.type.efficient_ring:
            self.note("leader by lot")
            strongest = sorted(members, key=lambda b: -self.draw(SECOND_BANK + b.seat, LOT))
        return strongest[: min(number, len(members))]

    def bid_together(
        self, m: Mechanism, members: list[Bidder], leaders: list[Bidder], bids: Bids
    ) -> Bids:
        n, together = len(self.bidders), list(bids)
        for b in leaders:
            one, two = b.sincere
            if m.auction_type == "first_price":
                rivals = b.rivals * (n - len(members)) / (n - 1)
                one = min(max(shaded(b.values[0], rivals, known_reserve(m)), 0.01), one)
                two = min(shaded(b.values[1], rivals, known_reserve(m)), two)
            together[b.seat] = one, two
        lowest = min(together[b.seat][0] for b in leaders)
        for b in members:
            if b in leaders:
                continue
            level = self.draw(SECOND_BANK + b.seat, COVER)
            if m.auction_type == "first_price":
                cover = lowest * (0.9 + 0.08 * level)
            elif m.reveal_reserve:
                self.note("cover at the reserve")
                cover = m.reserve_price
            else:
                cover = lowest * 0.5 * level
            together[b.seat] = min(cover, 0.98 * lowest, b.values[0], b.purse), 0.0
        return together

    def accusation(self, m: Mechanism, evidence: float) -> float:
        """The chance that a winner is fined for collusion, on so much evidence."""
        hit, false = {
            "allow": (0.0, 0.0),
            "restrict": (0.0, 0.0),
            "penalize_suspected": (self.p.suspected_hit, self.p.suspected_false),
            "penalize_confirmed": (self.p.confirmed_hit, self.p.confirmed_false),
        }[m.coalition_policy]
        return self.p.audit_rate * (false + (hit - false) * evidence)

    @staticmethod
    def gains(members: list[Bidder], sale: Sale) -> float:
        return sum(sum(b.values[: sale.won[b.seat]]) - sale.paid[b.seat] for b in members)

    # ------------------------------------------------------------------------------ the sale

    def sell(self, m: Mechanism, bids: Bids, with_aliases: bool = True) -> Sale:
        """Give K units to the highest bids; owner n + i is the false name of bidder i."""
        n, units = len(self.bidders), self.units
        offers = [(bid, i) for i, pair in enumerate(bids) for bid in pair]
        if with_aliases:
            offers += [(b.alias, n + b.seat) for b in self.bidders]
        ranked = [offer for offer in offers if 0 < offer[0] >= m.reserve_price]
        ranked.sort(key=lambda o: (-o[0], -self.draw(TIE_BANK + o[1], TIE)))
        sale = Sale(ranked, Counter(owner for _, owner in ranked[:units]))
        losers = ranked[units:]
        highest_losing = losers[0][0] if losers else m.reserve_price
        for owner, number in sale.won.items():
            if m.auction_type == "first_price":
                sale.paid[owner] = sum(bid for bid, other in ranked[:units] if other == owner)
            elif m.auction_type == "second_price":
                sale.paid[owner] = number * highest_losing
            else:
                displaced = [bid for bid, other in losers if other != owner]
                sale.paid[owner] = sum((displaced + [m.reserve_price] * number)[:number])
        if ranked:
            lowest_winning = ranked[:units][-1][0]
            sale.price = lowest_winning if m.auction_type == "first_price" else highest_losing
        return sale

    def settle(self, m: Mechanism, sale: Sale) -> tuple[float, float]:
        """Let winners keep what they won or walk away; return value and revenue delivered."""
        value = revenue = 0.0
        for b in self.bidders:
            won, paid, spent = sale.won[b.seat], sale.paid[b.seat], 0.0
            b.net, b.delivered = 0.0, 0
            if won:
                worth = sum(b.values[:won])
                if self.draw(b.seat, SHOCK) < self.p.shock_rate:
                    self.note("shock")
                    worth = 0.0
                fine = self.p.fine_unit * m.withdrawal_penalty * won
                elsewhere = b.type.outside_option * won if b.may("withdraw") else 0.0
                free_to_go = worth == 0 or b.may("withdraw")
                if free_to_go and elsewhere - fine > worth - paid:
                    self.note("withdrawal" if worth > 0 else "worthless win given back")
                    b.net = -fine
                else:
                    b.net, b.delivered, spent = worth - paid, won, paid
                    value, revenue = value + worth, revenue + paid
            b.spent += spent
            if b.type.budget:
                pace = spent / b.type.budget * self.p.pacing_rounds - 1
                b.pacing = max(0.0, b.pacing + self.p.pacing_gain * pace)
        return value, revenue

    def punish(self, m: Mechanism) -> None:
        p = self.p
        for b in self.bidders:
            guilty = b.ring is not None and b.ring.colluded
            chance = self.accusation(m, b.ring.evidence if guilty else 0.0)
            if b.delivered and self.draw(SECOND_BANK + b.seat, SCREEN) < chance:
                self.note("collusion fine" if guilty else "false accusation")
                b.net -= p.collusion_fine_unit * m.collusion_penalty
            chance = p.shill_hit if b.alias else p.shill_false if b.delivered else 0.0
            if self.draw(SECOND_BANK + b.seat, NAME_SCREEN) < chance:
                self.note("shill fine" if b.alias else "taken for a shill")
                b.net -= p.fine_unit * m.shill_penalty

    # ------------------------------------------------------------------------------ learning

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
            own = self.bids[b.seat][0] == b.sincere[0]
            alone = m.reserve_price if m.reveal_reserve else sale.price
            to_beat = [max(bid, known_reserve(m)) if bid else alone for bid in (lowest, above)]
            self.learn_factors(b, m, to_beat, lost and own, weight)
        gain = min(b.learning_rate * weight, 1.0)

        rival = lowest
        if lowest > 0 and m.auction_type == "first_price":
            rival = unshaded(lowest, b.rivals, known_reserve(m))
        floor = max(known_reserve(m), 0.02)
        if rival <= floor:
            self.note("rivals below the reserve")
        distance = -math.log(min(max(rival, floor), 1.0))
        b.rivals_seen = max(b.rivals_seen + gain * ((rival > floor) - b.rivals_seen), 0.01)
        b.rivals_distance = max(b.rivals_distance + gain * (distance - b.rivals_distance), 0.01)

        fits = b.type.learner == "gradient"
        if fits and m.auction_type == "second_price" and b.values[1] > 0:
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
        won = int(b.delivered > 0)
        own = not b.entered or self.bids[b.seat][0] == b.sincere[0]
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
        added = sum(sale.paid[i] - without.paid[i] for i in range(n))
        for b in names:
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
                gained = b.values[0] - b.sincere[0] if b.sincere[0] > cost else 0.0
        b.expected_surplus += self.p.entry_gain * (gained - b.expected_surplus)

    # ------------------------------------------------------------------------------- records

    def record(self, m: Mechanism, sale: Sale, value: float, revenue: float) -> dict[str, float]:
        """Return what the round was worth, and keep the auctioneer's account of it."""
        n, units = len(self.bidders), self.units
        for b in self.bidders:
            b.surplus = max(self.p.surplus_memory * b.surplus + b.net, 0.0)
            b.units_won = self.p.surplus_memory * b.units_won + b.delivered
            b.wins += b.delivered
        seen = [bid for bid, _ in self.bids] + [b.alias for b in self.bidders]
        competing = [0 < bid >= m.reserve_price for bid in seen]
        honest = [real and not b.covers for real, b in zip(competing, self.bidders, strict=False)]
        out = sum(
            (self.bids[b.seat][0] == 0 or sale.won[b.seat] > b.delivered) + sale.won[n + b.seat]
            for b in self.bidders
        )
        common = {
            "clearing_price": sale.price,
            "revenue": revenue,
            "dropouts": min(out, n),
            "collusion_signal": collusion_signal(seen, [b.wins for b in self.bidders]),
        }
        best = sum(sorted(v for b in self.bidders for v in b.values)[-units:])
        record = metrics(
            self.welfare, value, best, [b.surplus for b in self.bidders], sum(honest) / n, revenue
        )
        accepted = sum(sum(self.bids[b.seat][: b.delivered]) for b in self.bidders)
        offers = [bid for pair in self.bids for bid in pair] + [b.alias for b in self.bidders]
        account = metrics(
            self.believed_welfare,
            accepted,
            sum(sorted(offers)[-units:]),
            [b.units_won for b in self.bidders],
            min(sum(competing) / n, 1.0),
            revenue,
        )
        self.accounts.append(account | common)
        self.see(seen, common["dropouts"])
        return record | common

    def see(self, seen: list[float], out: float) -> None:
        n, positive = len(self.bidders), [bid for bid in seen if bid > 0]
        spent = sum(b.wins > 0 and self.bids[b.seat][0] == 0 for b in self.bidders)
        mean, spread = (np.mean(positive), np.std(positive)) if positive else (0.0, 0.0)
        now = np.array([len(positive), mean, spread, out / n, spent / n])
        weight = max(1 - self.p.sighting_memory, 1 / len(self.accounts))
        self.sightings += weight * (now - self.sightings)

    def note_sale(self, sale: Sale, m: Mechanism) -> None:
        n = len(self.bidders)
        if not sale.ranked:
            self.note("no sale")
        elif len(sale.ranked) < self.units:
            self.note("unsold units")
        if any(owner >= n for owner in sale.won):
            self.note("false name wins")
        if sale.ranked and not m.reveal_reserve:
            self.note("sale under a secret reserve")
        bids = [bid for bid, _ in sale.ranked]
        if len(bids) > self.units and bids[self.units - 1] == bids[self.units]:
            self.note("tie for the last unit")
        paid = {sale.paid[i] / sale.won[i] for i in sale.won}
        if m.auction_type == "vcg" and len(paid) > 1:
            self.note("personal prices")

    def draw(self, seat: int, purpose: int) -> float:
        return draw(self.seed, len(self.accounts), seat, purpose)

    def note(self, event: str) -> None:
        self.events[event] += 1


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(min(-x, 700.0)))


def known_reserve(m: Mechanism) -> float:
    return m.reserve_price if m.reveal_reserve else 0.0


def temptation(b: Bidder, abroad: float, floor: float) -> float:
    """The integral of the chance x^k that no outsider has more, from the floor to the value."""
    if b.values[0] <= floor:
        return 0.0
    power = 1 + abroad * b.rivals
    return (b.values[0] ** power - floor**power) / power


def shaded(value: float, rivals: float, reserve: float) -> float:
    """The equilibrium bid v k/(k + 1) + r^(k + 1) / ((k + 1) v^k) against the best of k rivals."""
    if value <= 0 or value < reserve:
        return 0.0
    bid = rivals * value / (rivals + 1)
    if reserve > 0:
        bid += reserve * (reserve / value) ** rivals / (rivals + 1)
    return bid


def unshaded(bid: float, rivals: float, reserve: float) -> float:
    """The value behind such a bid, by four Newton steps from that without a reserve."""
    value = bid * (rivals + 1) / rivals
    for _ in range(4 if reserve > 0 else 0):
        if value <= reserve:
            return reserve
        slope = rivals * (1 - (reserve / value) ** (rivals + 1)) / (rivals + 1)
        value -= (shaded(value, rivals, reserve) - bid) / slope
    return value


def uniform_price_surplus(
    values: tuple[float, float], second_bid: float, lowest: float, above: float
) -> float:
    """What a bidder gains that bids its first value and ``second_bid``.

    It wins one unit by beating the lowest winning bid of the others, and two by beating the one
    above it as well; the price is the highest bid that loses, which may be its own.
    """
    if second_bid > above:
        return sum(values) - 2 * above
    if values[0] > lowest:
        return values[0] - max(second_bid, lowest)
    return 0.0


def forgone(
    auction_type: str,
    values: tuple[float, float],
    bids: tuple[float, float],
    lowest: float,
    above: float,
) -> float:
    """What bids gain if ``lowest`` wins one unit, and ``above`` with it a second."""
    won = 0
    if bids[0] > 0 and bids[0] >= lowest:
        won = 2 if bids[1] > 0 and bids[1] >= above else 1
    paid = {
        "first_price": sum(bids[:won]),
        "second_price": [0.0, max(bids[1], lowest), 2 * above][won],
        "vcg": sum((lowest, above)[:won]),
    }
    return sum(values[:won]) - paid[auction_type]


def metrics(
    welfares: list[float],
    value: float,
    best: float,
    holdings: list[float],
    participation: float,
    revenue: float,
) -> dict[str, float]:
    """Return the measures of a round, and append its welfare to those before."""
    welfare = min(value / best, 1.0) if best > 0 else 0.0
    welfares.append(welfare)
    stability = 1.0
    if len(welfares) >= 5:
        stability = max(0.0, 1 - 3 * float(np.std(welfares[-5:])))
    inequality = gini(holdings)
    return {
        "welfare": welfare,
        "gini": inequality,
        "participation": participation,
        "stability": stability,
        "composite": welfare * (1 - inequality) * participation * stability,
        "revenue_share": min(revenue / value, 1.0) if value > 0 else 0.0,
    }


def gini(amounts: list[float]) -> float:
    """Half the mean absolute difference over the mean, scaled so that one having all gives 1."""
    n, total = len(amounts), sum(amounts)
    if total == 0:
        return 0.0
    differences = sum(abs(x - y) for x in amounts for y in amounts)
    return differences / (2 * n * total) * n / (n - 1)


def collusion_signal(bids: list[float], wins: list[int]) -> float:
    """How alike the bids are and how evenly wins rotate."""
    positive = np.array([bid for bid in bids if bid > 0])
    if len(positive) < 2:
        return 0.0
    alike = max(0.0, 1 - 3 * positive.std() / positive.mean())
    shares = np.array([each for each in wins if each > 0]) / max(1, sum(wins))
    evenness = -(shares * np.log2(shares)).sum() / math.log2(len(wins))
    return float(0.5 * (alike + min(1.0, evenness)))
