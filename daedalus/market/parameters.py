"""The constants of the strategic market. docs/market.md gives the reasons for their values."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

_UNBOUNDED = ("_cost", "_scale", "_unit", "_rounds", "_prior", "_spread_blind", "pacing_gain")


@dataclass
class StrategicParameters:
    """Constants of the strategic market. Money is in units of value, time in rounds.

    Attributes:
        entry_cost: Cost of preparing a bid.
        entry_scale: Noise of entry. Entry is logistic in (expected surplus - cost) / entry_scale.
        entry_floor: Least probability of entry.
        entry_gain: Weight of a round's surplus in the expected surplus of the next.
        secret_reserve_cost: Added to the cost of entry while the reserve is secret.
        secret_winner_cost: Added while winners are not named.
        secret_price_cost: Added while the clearing price is secret.
        secret_statistics_cost: Added while neither bids nor their distribution are shown.
        unverified_cost: Added while each winner pays a price of its own that it cannot check.
        exposed_bids_cost: Added while rivals see a bidder's bids.
        compliance_cost: Added under the policy ``restrict``.
        surplus_memory: Share of accumulated surplus that stays from round to round, for the Gini.
        sighting_memory: Weight of the past in the auctioneer's statistics of bids and absences.
        shock_rate: Probability that a unit proves worthless to its winner after the sale.
        fine_unit: Value of one point of the shill and withdrawal penalties.
        collusion_fine_unit: Value of one point of the collusion penalty.
        price_weight: Weight of a published price in learning about rivals; all bids have 1.
        distribution_weight: Weight of published bid statistics in learning about rivals.
        distribution_noise: Relative error of a rival's bid that is read from these statistics.
        reduction_scale: Noise of the choice to reduce demand.
        reduction_prior: What a bidder at first expects to lose if it offers one unit less.
        ring_scale: Noise of a ring's choice to collude.
        ring_gain: Weight of a round in a ring's estimate of its gain from collusion.
        ring_prior: This estimate before the first round, for each member.
        ring_patience: Discount factor of the members.
        monitoring_base: Probability that members learn which of them broke an agreement, if nothing
            is revealed. This risk makes members honour the agreement.
        monitoring_winner: Added to this probability if winners are named.
        monitoring_bids: Added to this probability if bids are shown.
        breakdown: Probability that a ring must compete for a while after a member broke its
            agreement.
        punishment_rounds: Number of rounds for which such a ring must compete.
        restrict_factor: Share of rings that still form under the policy ``restrict``.
        audit_rate: Share of winners that are screened for collusion.
        suspected_hit: Probability that a screen on suspicion finds a colluding winner.
        suspected_false: Probability that a screen on suspicion accuses an honest winner.
        confirmed_hit: Probability that a screen that needs proof finds a colluding winner.
        confirmed_false: Probability that a screen that needs proof accuses an honest winner.
        camouflage: Share of the screen's power that is lost if all covers look serious.
        shill_share: Share of what others pay more that goes to the shill bidder that caused it.
        shill_scale: Noise of the choice to bid under a false name.
        shill_gain: Weight of a round in the estimate of what a false name earns.
        shill_prior: This estimate before the first round.
        shill_hit: Probability that a false name is detected.
        shill_false: Probability that an honest winner is taken for a false name.
        shill_spread_bids: Relative error of a false-name bid when bids are shown.
        shill_spread_distribution: Its relative error when the distribution of bids is shown.
        shill_spread_price: Its relative error when only the price is shown.
        shill_spread_blind: Its relative error when nothing is shown.
        price_gain: Weight of a round's price in the price that shill bidders expect.
        price_prior: This price before the first round.
        pacing_gain: Step of the factor that spreads a budget over an episode.
        pacing_rounds: Rounds over which the budget is spread.
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
    reduction_prior: float = 0.01
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
    price_prior: float = 0.5
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
