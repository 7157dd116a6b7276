"""The published populations, built in Python; helpers for tests, not a test."""

from __future__ import annotations

import numpy as np

from daedalus.market.mechanism import AUCTION_TYPES, COALITION_POLICIES, Mechanism, Mechanisms
from daedalus.market.population import BidderType, Population
from daedalus.market.population_settings import PopulationSettings
from daedalus.market.seat_plan import BidderGroup, SeatPlan

STAGES = range(5)

TYPES = {
    "truthful": BidderType(2),
    "shader": BidderType(2, ["opt_out", "shade"]),
    "dropout": BidderType(1, ["opt_out", "shade", "withdraw"], outside_option=0.15),
    "colluder": BidderType(2, ["opt_out", "shade", "collude"]),
    "exploiter": BidderType(1, ["opt_out", "shade", "shill"], budget=5.0),
}
"""Every kind of bidder for the strategic market, whatever the stage."""


def population(stage: int, bidders: int = 8) -> Population:
    """Return a strategic population with a label of a stage and all of ``TYPES``."""
    return Population(stage, bidders, TYPES)


def seat_plan(stage: int, bidders: int = 8) -> SeatPlan:
    """Return the published seats of a stage; bidders beyond the eighth are truthful."""
    groups = {"truthful": BidderGroup()}
    if stage >= 1:
        groups["shader"] = BidderGroup("shader", [2, 3], 0.4, 0.9)
    if stage >= 2:
        groups["patient"] = BidderGroup("dropout", [1], 0.15, 0.6, threshold=0.12)
        groups["impatient"] = BidderGroup("dropout", [6], 0.15, 0.6, threshold=0.08)
    if stage >= 3:
        groups["ring"] = BidderGroup("colluder", [5, 4], 0.35, 0.85)
    if stage >= 4:
        groups["rich"] = BidderGroup("exploiter", [7], 0.2, 0.6, budget=2.5)
        groups["poor"] = BidderGroup("exploiter", [0], 0.2, 0.6, budget=2.0)
    return SeatPlan(stage, bidders, groups)


def in_both_markets(stage: int) -> PopulationSettings:
    """Return a population of a stage that both markets can play."""
    return PopulationSettings(f"stage{stage}", population(stage), seat_plan(stage))


def draw_mechanism(rng: np.random.Generator) -> Mechanism:
    """Draw a mechanism that is often on an edge of the space, where behaviour switches."""
    penalty = [0.0, 1.0, np.nextafter(1.0, 2.0), 3.0, rng.uniform(0, 3)]
    return Mechanism(
        auction_type=str(rng.choice(AUCTION_TYPES)),
        reserve_price=float(rng.choice([0.0, 0.1, 0.3, 0.9, rng.uniform(0, 0.9)])),
        reveal_reserve=bool(rng.random() < 0.5),
        reveal_competing_bids=bool(rng.random() < 0.5),
        reveal_winner_identity=bool(rng.random() < 0.5),
        reveal_clearing_price=bool(rng.random() < 0.5),
        reveal_bid_distribution=bool(rng.random() < 0.5),
        shill_penalty=float(rng.uniform(0, 3)),
        withdrawal_penalty=float(rng.uniform(0, 3)),
        collusion_penalty=float(rng.choice(penalty)),
        coalition_policy=str(rng.choice(COALITION_POLICIES)),
    )


def draw_mechanisms(count: int, rng: np.random.Generator) -> Mechanisms:
    """Draw a batch of such mechanisms."""
    return Mechanisms.stack([draw_mechanism(rng) for _ in range(count)])
