"""A designer of hand-written rules that reacts to what it observes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from daedalus.designers.base import DesignerSettings
from daedalus.market.mechanism import AUCTION_TYPES, COALITION_POLICIES, Mechanism, Mechanisms
from daedalus.market.outcome import Observation


@dataclass
class HeuristicDesigner(DesignerSettings):
    """Three rules, applied in this order to a second-price auction that reveals its price.

    1. A ring shows when the mean collusion signal of the last five rounds exceeds
       ``collusion_alarm``: go first-price, hide winner and bids, fine collusion at 1.5 and
       penalise suspects, since a second-price ring polices itself and a first-price one does not.
    2. A price that falls by more than ``price_slide`` a round is shading at work: go first-price
       no longer, and stop revealing the price that shaders learn from.
    3. Bidders out in excess of ``exit_alarm`` of all: halve the reserve, down to 0.05.

    Attributes:
        collusion_alarm: Collusion signal, 0 to 1.
        price_slide: Fall of the clearing price, in value per round.
        exit_alarm: Share of bidders out of the market, 0 to 1.
    """

    collusion_alarm: float = 0.55
    price_slide: float = 0.01
    exit_alarm: float = 0.1

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the rules' answer for each market."""
        batch = len(observations)
        proposal = Mechanisms.repeat(Mechanism(reserve_price=0.15), batch)
        signal = np.nan_to_num(observations.field("collusion_signal")[:, -5:]).mean(axis=1)
        ring = signal > self.collusion_alarm
        sliding = observations.proxy("clearing_price_trend") < -self.price_slide
        leaving = observations.proxy("dropout_rate") > self.exit_alarm
        proposal.auction_type[ring & ~sliding] = AUCTION_TYPES.index("first_price")
        proposal.collusion_penalty[ring] = 1.5
        proposal.coalition_policy[ring] = COALITION_POLICIES.index("penalize_suspected")
        proposal.reveal_clearing_price[sliding] = False
        reserve = observations.mechanisms.reserve_price[leaving]
        proposal.reserve_price[leaving] = np.maximum(0.05, reserve / 2)
        return proposal
