"""A designer of hand-written rules that reacts to what it observes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daedalus.designers.base import DesignerSettings
from daedalus.market.mechanism import AUCTION_TYPES, Mechanism, Mechanisms
from daedalus.market.outcome import Observation

_QUIET = Mechanism(reserve_price=0.10, coalition_policy="penalize_suspected")


@dataclass
class HeuristicDesigner(DesignerSettings):
    """Three rules, applied in this order.

    In quiet times: a second-price auction with reserve 0.10 that reveals its price and penalises
    suspected coalitions, which deters a ring before it shows.

    1. A ring shows when the mean collusion signal of the last five rounds exceeds
       ``collusion_alarm``: go first-price and fine collusion at 1.5, since a second-price ring
       polices itself and a first-price one does not.
    2. A price that falls by more than ``price_slide`` a round is shading at work: stop revealing
       the price that shaders learn from.
    3. Bidders out in excess of ``exit_alarm`` of all: halve the reserve in force, though not below
       0.05 unless it is there already.

    Attributes:
        collusion_alarm: Collusion signal, 0 to 1.
        price_slide: Fall of the clearing price, in value per round.
        exit_alarm: Share of bidders out of the market, 0 to 1.
    """

    collusion_alarm: float = 0.65
    price_slide: float = 0.01
    exit_alarm: float = 0.1

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the rules' answer for each market."""
        proposal = Mechanisms.repeat(_QUIET, len(observations))
        ring = _mean_of_known(observations.field("collusion_signal")[:, -5:]) > self.collusion_alarm
        proposal.auction_type[ring] = AUCTION_TYPES.index("first_price")
        proposal.collusion_penalty[ring] = 1.5
        sliding = observations.proxy("clearing_price_trend") < -self.price_slide
        proposal.reveal_clearing_price[sliding] = False
        leaving = observations.proxy("dropout_rate") > self.exit_alarm
        reserve = observations.mechanisms.reserve_price[leaving]
        proposal.reserve_price[leaving] = np.minimum(reserve, np.maximum(0.05, reserve / 2))
        return proposal


def _mean_of_known(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each row's mean over what is not NaN; 0 where nothing is known."""
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.asarray(total / np.maximum(known.sum(axis=1), 1), dtype=np.float64)
