"""What an auctioneer sees of a batch of markets."""

from __future__ import annotations

import numpy as np

from daedalus.market.kernels.observing import observe_markets
from daedalus.market.outcome import HISTORY_LENGTH, PROXIES, ROUND_FIELDS, Observed
from daedalus.market.state import MarketState


def observe(state: MarketState) -> Observed:
    """Return what an auctioneer computes from bids, absences, deliveries and prices."""
    observed = Observed(np.empty(state.history.shape), np.empty((len(state), len(PROXIES))))
    row = (len(state), HISTORY_LENGTH * len(ROUND_FIELDS))
    observe_markets(
        state.sizes,
        state.units,
        state.rounds,
        state.active,
        state.bids,
        state.previous_bids,
        state.wins,
        state.history.reshape(row),
        observed.recent.reshape(row),
        observed.proxies,
    )
    return observed
