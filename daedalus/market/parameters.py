"""The strategic market's constants, with their units; docs/market.md gives the reasons."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

_UNBOUNDED = ("_cost", "_scale", "_unit", "_rounds", "_prior", "_spread_blind", "pacing_gain")


@dataclass
class StrategicParameters:
    """Constants of the strategic market. Money is in units of value, time in rounds.

    Attributes:
        entry_cost: What it costs to prepare a bid.
        entry_scale: Spread of the choice to enter: it is logistic in expected surplus less cost.
        entry_floor: Probability that a bidder enters although it expects no surplus.
        entry_gain: Weight of a round's surplus in the expected surplus of the next.
        secret_reserve_cost: Added to the cost of entry while the reserve is secret.
        secret_winner_cost: Added while winners are not named.
        secret_price_cost: Added while the clearing price is not told.
        secret_statistics_cost: Added while neither bids nor their distribution are shown.
        unverified_cost: Added while winners pay personal prices that nobody can check.
        exposed_bids_cost: Added while rivals are shown a bidder's bids.
        compliance_cost: Added under the policy ``restrict``.
        surplus_memory: Share of accumulated surplus kept from round to round, for the Gini.
        sighting_memory: Weight of the past in the auctioneer's statistics of bids and absences.
        shock_rate: Probability that a win proves worthless after the sale.
        fine_unit: Value of one point of the shill and withdrawal penalties.
        collusion_fine_unit: Value of one point of the collusion penalty.
        price_weight: How much a price teaches about rivals, relative to seeing their bids.
        distribution_weight: How much published bid statistics teach.
        distribution_noise: Relative error in reading a rival's bid from them.
        reduction_scale: Spread of the choice to reduce demand.
        ring_scale: Spread of a ring's choice to collude.
        ring_gain: Weight of a round in a ring's estimate of what collusion earns a member.
        ring_prior: That estimate before the first round.
        ring_patience: Discount factor of the members.
        monitoring_base: Probability that members learn of a deviation when nothing is revealed;
            this risk deters deviations.
        monitoring_winner: Added if winners are named.
        monitoring_bids: Added if bids are shown.
        breakdown: Probability that a ring competes for a while after a deviation.
        punishment_rounds: Number of rounds for which it then competes.
        restrict_factor: Share of rings that still form under the policy ``restrict``.
        audit_rate: Share of winners that are screened for collusion.
        suspected_hit: Probability that a screen on suspicion finds a colluding winner.
        suspected_false: Probability that it accuses an honest one.
        confirmed_hit: Probability that a screen for proof finds a colluding winner.
        confirmed_false: Probability that it accuses an honest one.
        camouflage: Share of the screen's power lost if all cover bids look serious.
        shill_share: Share of a price rise that goes to the shill bidders who caused it.
        shill_scale: Spread of the choice to bid under a false name.
        shill_gain: Weight of a round in the estimate of what a false name earns.
        shill_prior: That estimate before the first round.
        shill_hit: Probability that a false name is detected.
        shill_false: Probability that an honest winner is fined for one.
        shill_spread_bids: Relative error of a false-name bid when bids are shown.
        shill_spread_distribution: That error when their distribution is shown.
        shill_spread_price: That error when only the price is shown.
        shill_spread_blind: That error when nothing is shown.
        price_gain: Weight of a round's price in the price that false names aim at.
        pacing_gain: Step of the multiplier with which a budget is spread over an episode.
        pacing_rounds: Rounds over which it is spread.
    """

    entry_cost: float = 0.010
    entry_scale: float = 0.020
    entry_floor: float = 0.05
    entry_gain: float = 0.08
    secret_reserve_cost: float = 0.008
    secret_winner_cost: float = 0.004
    secret_price_cost: float = 0.004
    secret_statistics_cost: float = 0.004
    unverified_cost: float = 0.004
    exposed_bids_cost: float = 0.004
    compliance_cost: float = 0.006
    surplus_memory: float = 0.95
    sighting_memory: float = 0.9
    shock_rate: float = 0.04
    fine_unit: float = 0.25
    collusion_fine_unit: float = 1.0
    price_weight: float = 0.3
    distribution_weight: float = 0.3
    distribution_noise: float = 0.3
    reduction_scale: float = 0.005
    ring_scale: float = 0.004
    ring_gain: float = 0.1
    ring_prior: float = 0.02
    ring_patience: float = 0.975
    monitoring_base: float = 0.10
    monitoring_winner: float = 0.45
    monitoring_bids: float = 0.45
    breakdown: float = 0.5
    punishment_rounds: float = 10.0
    restrict_factor: float = 0.4
    audit_rate: float = 0.4
    suspected_hit: float = 0.76
    suspected_false: float = 0.10
    confirmed_hit: float = 0.37
    confirmed_false: float = 0.01
    camouflage: float = 0.5
    shill_share: float = 0.35
    shill_scale: float = 0.004
    shill_gain: float = 0.1
    shill_prior: float = 0.02
    shill_hit: float = 0.35
    shill_false: float = 0.04
    shill_spread_bids: float = 0.04
    shill_spread_distribution: float = 0.06
    shill_spread_price: float = 0.12
    shill_spread_blind: float = 0.30
    price_gain: float = 0.2
    pacing_gain: float = 0.05
    pacing_rounds: float = 50.0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not 0.0 <= value < math.inf:
                raise ValueError(f"{each.name}: {value}; give a finite number from 0 up")
            if value > 1.0 and not each.name.endswith(_UNBOUNDED):
                raise ValueError(f"{each.name}: {value}; give a number from 0 to 1")
            if each.name.endswith("_scale") and value == 0.0:
                raise ValueError(f"{each.name}: 0; give a number above 0, however small")
        if self.ring_patience >= 1.0:
            raise ValueError(f"ring_patience: {self.ring_patience}; give a number below 1")
