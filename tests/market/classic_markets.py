"""Classic markets for tests; not a test."""

from __future__ import annotations

import numpy as np

from daedalus.market.classic import ClassicMarket
from daedalus.market.seeds import market_seeds
from tests.populations import draw_mechanisms, seat_plan


def played(batch: int = 32, stage: int = 4, rounds: int = 30):
    """Return a market, its state after some rounds, the mixed mechanisms played, and records."""
    market = ClassicMarket(seat_plan(stage))
    mechanisms = draw_mechanisms(batch, np.random.default_rng(batch))
    state = market.reset(market_seeds(3, "played", batch))
    outcome = market.play(state, mechanisms, rounds)
    return market, state, mechanisms, outcome.records
