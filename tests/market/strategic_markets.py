"""Strategic markets for tests, and helpers that play and compare them; not a test."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from daedalus.market.mechanism import Mechanism
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import STRATEGIES, BidderType, Population
from daedalus.market.seeds import market_seeds
from daedalus.market.strategic import StrategicMarket
from daedalus.market.value_distribution import ValueDistribution
from tests.populations import draw_mechanisms

TYPES = {
    "truthful": BidderType(),
    "shader": BidderType(menu=["opt_out", "shade"]),
    "dropout": BidderType(menu=["opt_out", "shade", "withdraw"], outside_option=0.15),
    "colluder": BidderType(menu=["opt_out", "shade", "collude"]),
    "exploiter": BidderType(menu=["opt_out", "shade", "shill"], budget=10.0),
    "discreet": BidderType(
        menu=["opt_out", "shade", "collude"], value_low=0.5, demand=1, discretion=0.8
    ),
    "weak": BidderType(
        menu=["opt_out", "shade", "collude"], value_low=0.4, demand=1, efficient_ring=False
    ),
}


COMMON = ("truthful", "shader", "dropout", "colluder", "exploiter")


def mixed(*names: str, bidders: int = 10, units: int = 3, **changes) -> Population:
    """Return a population of equal shares of the named types."""
    types = {name: dataclasses.replace(TYPES[name], **changes) for name in names}
    return Population(bidders=bidders, units=units, types=types)


def random_values(rng: np.random.Generator) -> ValueDistribution | None:
    families = (
        ValueDistribution("exponential", mean=float(rng.uniform(0.1, 1.0))),
        ValueDistribution(
            "beta", alpha=float(rng.uniform(0.5, 3)), beta=float(rng.uniform(0.5, 3))
        ),
        ValueDistribution("mixture", parts=[[1.0, 0.0, 0.4], [2.0, 0.6, 1.0]]),
        ValueDistribution("quantiles", quantiles=np.sort(rng.random(5)).tolist()),
    )
    return None if rng.random() < 0.5 else families[rng.integers(len(families))]


def random_type(rng: np.random.Generator, ceiling: float) -> BidderType:
    low, high = np.sort(rng.uniform(0, ceiling, 2))
    budget = rng.choice([None, 0.0, 0.3, float(rng.uniform(0, 5))])
    # Drawn apart. In one of 1,500 other populations a budget ran down to exactly the reserve, where
    # the order in which payments are summed decides whether what is left of it competes.
    (spreads,) = rng.spawn(1)
    (shapes,) = spreads.spawn(1)
    return BidderType(
        share=float(rng.uniform(0.1, 1)),
        menu=[each for each in STRATEGIES if rng.random() < 0.5],
        value_low=float(low),
        value_high=float(high),
        values=random_values(shapes),
        demand=int(rng.integers(1, 3)),
        outside_option=float(rng.choice([0.0, 0.15, 0.6])),
        budget=budget,
        expected_surplus=float(rng.choice([0.0, 0.05, 0.2])),
        rivals=float(rng.choice([0.01, 1.0, 10.0, 100.0])),
        learning_rate=float(rng.choice([0.01, 0.2, 1.0])),
        rate_spread=float(spreads.choice([1.0, 4.0, 100.0])),
        rivals_spread=float(spreads.choice([1.0, 4.0, 100.0])),
        efficient_ring=bool(rng.random() < 0.5),
        discretion=float(rng.choice([0.0, 0.5, 1.0])),
    )


def random_population(rng: np.random.Generator) -> Population:
    ceiling = float(rng.choice([1.0, 1.0, 0.03]))
    types = {f"type_{number}": random_type(rng, ceiling) for number in range(rng.integers(1, 5))}
    return Population(
        bidders=int(rng.integers(2, 13)),
        types=types,
        units=int(rng.integers(1, 6)),
        concentration=rng.choice([None, 1.0, 20.0]),
    )


def random_parameters(rng: np.random.Generator) -> StrategicParameters:
    """Draw every constant around its default; those below 1 stay there."""
    drawn = {}
    for name, value in dataclasses.asdict(StrategicParameters()).items():
        other = value * rng.uniform(0.2, 4)
        drawn[name] = min(other, 0.97) if value < 1 else other
    return StrategicParameters(**drawn)


def fresh(who: Population, batch: int, parameters: StrategicParameters | None = None):
    market = StrategicMarket(who, parameters)
    return market, market.reset(market_seeds(3, "strategic", batch))


def by_hedge_and_q(bidders: int = 12) -> Population:
    """Return shaders, exploiters and a ring of each kind who learn from tables."""
    types = {
        f"{name} by {learner}": dataclasses.replace(TYPES[name], learner=learner)
        for name in ("shader", "exploiter", "colluder")
        for learner in ("hedge", "q")
    }
    return Population(bidders=bidders, types=types)


POPULATIONS = {
    "common": mixed(*COMMON),
    "by Hedge and Q-learning": by_hedge_and_q(),
    "shares drawn": dataclasses.replace(mixed(*COMMON), concentration=1.0),
    "rings": mixed("discreet", "weak", "shader", bidders=12, units=2),
    "more units than bids": mixed("dropout", "colluder", bidders=2, units=5, demand=1),
}


each_population = pytest.mark.parametrize("who", POPULATIONS.values(), ids=POPULATIONS)


def played(who: Population = POPULATIONS["common"], batch: int = 32, rounds: int = 30):
    """Return a market, its state after some rounds, the mixed mechanisms played, and records."""
    market, state = fresh(who, batch)
    mechanisms = draw_mechanisms(batch, np.random.default_rng(batch))
    outcome = market.play(state, mechanisms, rounds)
    return market, state, mechanisms, outcome.records


def telling(**changes) -> Mechanism:
    """Return a mechanism that discloses nothing except what ``changes`` say."""
    return Mechanism(**{"reveal_clearing_price": False, "reserve_price": 0.05} | changes)
