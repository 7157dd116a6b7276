"""The strategic market for one episode in plain Python, rule by rule.

Slow, scalar and obvious on purpose: the kernels are compared with it.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from daedalus.market.mechanism import Mechanism
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType
from tests.market import reference_bidders as numbers
from tests.market.reference_bidders import Bidder, Bids, Ring, Sale
from tests.market.reference_classic import collusion_signal, draw
from tests.market.reference_formulas import known_reserve, logistic, metrics, temptation
from tests.market.reference_learning import Learning
from tests.market.reference_payments import ONE_PRICE, clearing_price, payment


class ReferenceEpisode(Learning):
    """One episode; ``events`` counts the rare things, so that tests can see they happened."""

    def __init__(
        self, seats: list[BidderType], units: int, parameters: StrategicParameters, seed: int
    ) -> None:
        self.units, self.p, self.seed = units, parameters, int(seed)
        self.bidders = [
            Bidder(t, i, parameters.shill_prior, -parameters.reduction_prior, self.seed)
            for i, t in enumerate(seats)
        ]
        self.rings: list[Ring] = []
        self.price_expected = parameters.price_prior
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
            bidder.solo = self.solo_bid(bidder, m)
            bidder.alias = self.false_name(bidder, m)
        if not any(b.entered for b in self.bidders):
            self.note("nobody enters")
        bids = [b.solo if b.entered else (0.0, 0.0) for b in self.bidders]
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
        one = b.belief.at(self.draw(b.seat, numbers.VALUE_ONE))
        if b.type.demand == 1 or self.units == 1:
            return one, 0.0
        two = b.belief.at(self.draw(b.seat, numbers.VALUE_TWO))
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
        draw = self.draw(numbers.LEARNER_BANK + b.seat, numbers.CHOICE)
        if b.type.learner == "hedge":
            for choice, weight in enumerate(b.weights):
                draw -= weight
                if draw < 0:
                    return choice
            return b.type.factors - 1
        if b.type.learner == "q":
            chance = b.type.exploration * math.exp(-b.type.exploration_decay * len(self.accounts))
            if self.draw(numbers.LEARNER_BANK + b.seat, numbers.EXPLORE) < chance:
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
        chance = self.p.entry_floor + (1 - self.p.entry_floor) * willing
        return self.draw(b.seat, numbers.ENTRY) < chance

    def solo_bid(self, b: Bidder, m: Mechanism) -> tuple[float, float]:
        one, two = b.values
        fits = b.may("shade") and b.type.learner == "gradient"
        if b.type.learner != "gradient":
            one, two = one * b.factor(b.choice), two * b.factor(b.choice)
        if fits and m.auction_type == "first_price":
            one = b.belief.shaded(one, b.rivals, known_reserve(m))
            two = b.belief.shaded(two, b.rivals, known_reserve(m))
        if fits and m.auction_type in ONE_PRICE and two > 0:
            reduces = logistic(b.reduction_gain / self.p.reduction_scale)
            if self.draw(b.seat, numbers.REDUCE) < reduces:
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
        chance = logistic(expected / p.shill_scale)
        if self.draw(numbers.SECOND_BANK + b.seat, numbers.SHILL) >= chance:
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
        error = spread * (2 * self.draw(numbers.SECOND_BANK + b.seat, numbers.LEVEL) - 1)
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
        ring.colluded = self.draw(numbers.RING_BANK + ring.number, numbers.COLLUDE) < chance

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
            one, two = b.solo
            if m.auction_type == "first_price":
                above = b.belief.shaded(b.values[0], abroad * b.rivals, floor) + 0.01
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
            if self.draw(numbers.RING_BANK + ring.number, numbers.EXPOSED) < p.breakdown:
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
        strongest = sorted(members, key=lambda b: -min(b.values[0], b.purse))
        if not ring.type.efficient_ring:
            self.note("leader by lot")
            lots = {b.seat: self.draw(numbers.SECOND_BANK + b.seat, numbers.LOT) for b in members}
            strongest = sorted(members, key=lambda b: -lots[b.seat] if b.purse > 0 else 0.0)
        if any(b.purse <= 0 for b in members):
            self.note("ring member without money")
        return strongest[: min(number, len(members))]

    def bid_together(
        self, m: Mechanism, members: list[Bidder], leaders: list[Bidder], bids: Bids
    ) -> Bids:
        n, together = len(self.bidders), list(bids)
        for b in leaders:
            one, two = b.solo
            if m.auction_type == "first_price":
                rivals = b.rivals * (n - len(members)) / (n - 1)
                one = min(max(b.belief.shaded(b.values[0], rivals, known_reserve(m)), 0.01), one)
                two = min(b.belief.shaded(b.values[1], rivals, known_reserve(m)), two)
            together[b.seat] = one, two
        lowest = min(together[b.seat][0] for b in leaders)
        for b in members:
            if b in leaders:
                continue
            level = self.draw(numbers.SECOND_BANK + b.seat, numbers.COVER)
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
        ranked.sort(key=lambda o: (-o[0], -self.draw(numbers.TIE_BANK + o[1], numbers.TIE)))
        sale = Sale(ranked, Counter(owner for _, owner in ranked[:units]))
        losers = ranked[units:] + [(m.reserve_price, -1)] * 2
        winning, losing = ([bid for bid, _ in each] for each in (ranked[:units], losers))
        for owner in sale.won:
            mine = [bid for bid, other in ranked[:units] if other == owner]
            displaced = [bid for bid, other in losers if other != owner]
            sale.paid[owner] = payment(m.auction_type, mine, losing, displaced)
        if ranked:
            sale.price = clearing_price(m.auction_type, winning, losing)
        return sale

    def settle(self, m: Mechanism, sale: Sale) -> tuple[float, float]:
        """Let winners keep what they won or walk away; return value and revenue delivered."""
        value = revenue = 0.0
        for b in self.bidders:
            won, paid, spent = sale.won[b.seat], sale.paid[b.seat], 0.0
            b.net, b.delivered = 0.0, 0
            if won:
                worth = sum(b.values[:won])
                if self.draw(b.seat, numbers.SHOCK) < self.p.shock_rate:
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
            if b.delivered and self.draw(numbers.SECOND_BANK + b.seat, numbers.SCREEN) < chance:
                self.note("collusion fine" if guilty else "false accusation")
                b.net -= p.collusion_fine_unit * m.collusion_penalty
            chance = p.shill_hit if b.alias else p.shill_false if b.delivered else 0.0
            if self.draw(numbers.SECOND_BANK + b.seat, numbers.NAME_SCREEN) < chance:
                self.note("shill fine" if b.alias else "taken for a shill")
                b.net -= p.fine_unit * m.shill_penalty

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
