"""What an auctioneer sees of a batch of markets."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from daedalus.market.kernels.observing import observe_markets
from daedalus.market.outcome import HISTORY_LENGTH, PROXIES, ROUND_FIELDS
from daedalus.market.state import MarketState


class Observed(NamedTuple):
    """What an auctioneer sees of B markets; the arrays are copies.

    Attributes:
        recent: The last rounds, shape (B, 20, 10), as in ``Observation``.
        proxies: Statistics of the population, shape (B, 9), as in ``Observation``.
    """

    recent: NDArray[np.float64]
    proxies: NDArray[np.float64]


def observe(state: MarketState) -> Observed:
    """Return what an auctioneer computes from bids, absences, deliveries and prices."""
    observed = Observed(np.empty(state.history.shape), np.empty((len(state), len(PROXIES))))
    row = (len(state), HISTORY_LENGTH * len(ROUND_FIELDS))
    observe_markets(
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
