"""What an auctioneer sees of a batch of markets."""

from __future__ import annotations

import numpy as np

from daedalus.market.kernels.observing import observe_markets
from daedalus.market.observation import PROXIES, Observed
from daedalus.market.state import MarketState


def observe(state: MarketState) -> Observed:
    """Return what an auctioneer computes from bids, absences, deliveries and prices."""
    proxies = np.empty((len(state), len(PROXIES)))
    observe_markets(
        state.sizes,
        state.units,
        state.rounds,
        state.active,
        state.bids,
        state.previous_bids,
        state.wins,
        state.prices,
        proxies,
    )
    return Observed(state.history, proxies)
