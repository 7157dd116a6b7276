"""The constants of the strategic market. docs/market.md gives the reasons for their values."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

_UNBOUNDED = ("_cost", "_scale", "_unit", "_rounds", "_prior", "_spread_blind", "pacing_gain")


@dataclass
class StrategicParameters:
    """Constants of the strategic market. Money is in units of value, time in rounds."""

    entry_cost: float = 0.010  # cost of preparing a bid
    entry_scale: float = 0.020  # noise of entry, logistic in (expected surplus - cost) / noise
    entry_floor: float = 0.05  # least probability of entry
    entry_gain: float = 0.08  # weight of a round's surplus in the expected surplus of the next
    secret_reserve_cost: float = 0.008  # added to the cost of entry while the reserve is secret
    secret_winner_cost: float = 0.004  # added while winners are not named
    secret_price_cost: float = 0.004  # added while the clearing price is secret
    secret_statistics_cost: float = 0.004  # added while neither bids nor statistics are shown
    # added while each winner pays a price of its own that it cannot check
    unverified_cost: float = 0.004
    exposed_bids_cost: float = 0.004  # added while rivals see a bidder's bids
    compliance_cost: float = 0.006  # added under the policy ``restrict``
    # share of accumulated surplus that stays from round to round, for the Gini
    surplus_memory: float = 0.95
    # weight of the past in the auctioneer's statistics of bids and absences
    sighting_memory: float = 0.9
    shock_rate: float = 0.04  # probability that a unit proves worthless to its winner
    fine_unit: float = 0.25  # value of one point of the shill and withdrawal penalties
    collusion_fine_unit: float = 1.0  # value of one point of the collusion penalty
    price_weight: float = 0.3  # weight of a published price in learning about rivals; bids have 1
    distribution_weight: float = 0.3  # weight of published bid statistics in learning about rivals
    distribution_noise: float = 0.3  # relative error of a rival's bid that is read from these
    reduction_scale: float = 0.005  # noise of the choice to reduce demand
    reduction_prior: float = 0.01  # what a bidder first expects to lose if it offers one unit less
    ring_scale: float = 0.004  # noise of a ring's choice to collude
    ring_gain: float = 0.1  # weight of a round in a ring's estimate of its gain from collusion
    ring_prior: float = 0.02  # this estimate before the first round, for each member
    ring_patience: float = 0.975  # discount factor of the members
    # probability that members learn which of them broke an agreement, if nothing is revealed;
    # this risk makes members honour the agreement
    monitoring_base: float = 0.10
    monitoring_winner: float = 0.45  # added to this probability if winners are named
    monitoring_bids: float = 0.45  # added to this probability if bids are shown
    # probability that a ring must compete for a while after a member broke its agreement
    breakdown: float = 0.5
    punishment_rounds: float = 10.0  # number of rounds for which such a ring must compete
    restrict_factor: float = 0.4  # share of rings that still form under the policy ``restrict``
    audit_rate: float = 0.4  # share of winners that are screened for collusion
    suspected_hit: float = 0.76  # probability that a screen on suspicion finds a colluding winner
    suspected_false: float = 0.10  # probability that a screen on suspicion accuses an honest winner
    confirmed_hit: float = 0.37  # probability that a screen with proof finds a colluding winner
    confirmed_false: float = 0.01  # probability that a screen with proof accuses an honest winner
    camouflage: float = 0.5  # share of the screen's power that is lost if all covers look serious
    # share of what others pay more that goes to the shill bidder that caused it
    shill_share: float = 0.35
    shill_scale: float = 0.004  # noise of the choice to bid under a false name
    shill_gain: float = 0.1  # weight of a round in the estimate of what a false name earns
    shill_prior: float = 0.02  # this estimate before the first round
    shill_hit: float = 0.35  # probability that a false name is detected
    shill_false: float = 0.04  # probability that an honest winner is taken for a false name
    shill_spread_bids: float = 0.04  # relative error of a false-name bid when bids are shown
    shill_spread_distribution: float = 0.06  # its relative error when statistics are shown
    shill_spread_price: float = 0.12  # its relative error when only the price is shown
    shill_spread_blind: float = 0.30  # its relative error when nothing is shown
    price_gain: float = 0.2  # weight of a round's price in the price that shill bidders expect
    price_prior: float = 0.5  # this price before the first round
    pacing_gain: float = 0.05  # step of the factor that spreads a budget over an episode
    pacing_rounds: float = 50.0  # rounds over which the budget is spread

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
