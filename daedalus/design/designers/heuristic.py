"""Three hand-written reactions to an observed market."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.market.goal import nearest_allowed
from daedalus.market.mechanism import AUCTION_TYPES, Mechanism, Mechanisms
from daedalus.market.observation import Observation

_QUIET = Mechanism(reserve_price=0.10, coalition_policy="penalize_suspected")
_COLLUSION_ALARM = 0.65  # collusion signal that counts as a ring
_PRICE_SLIDE = 0.01  # fall of the clearing price a round that counts as shading
_EXIT_ALARM = 0.1  # share of bidders out of the market that counts as an exodus


@dataclass
class HeuristicSettings(DesignerSettings):
    """Settings of the heuristic designer."""

    def build(self, context: DesignerContext) -> HeuristicDesigner:
        """Return the designer."""
        return HeuristicDesigner()


class HeuristicDesigner:
    """Starts from a quiet mechanism and changes it by three reactions, in this order.

    The quiet mechanism is a second-price auction with reserve 0.10. It reveals its price and
    penalises suspected coalitions, which deters a ring before it shows.

    1. The mean collusion signal of the last five rounds exceeds 0.65. The designer turns to first
       price and fines collusion at 1.5, because a second-price ring polices itself and a
       first-price ring does not.
    2. The price falls by more than 0.01 a round. The designer stops revealing the price, from which
       shaders learn.
    3. The share of bidders out exceeds 0.1. The designer halves the reserve in force, but not below
       0.05, unless the reserve is lower already.
    """

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return the mechanism for each market, or the nearest that is allowed."""
        quiet = Mechanisms.repeat(_QUIET, len(observations))
        signal = _mean_of_known(observations.field("collusion_signal")[:, -5:])
        ring = signal > _COLLUSION_ALARM
        sliding = observations.proxy("clearing_price_trend") < -_PRICE_SLIDE
        leaving = observations.proxy("dropout_rate") > _EXIT_ALARM
        reserve = observations.mechanisms.reserve_price
        halved = np.minimum(reserve, np.maximum(0.05, reserve / 2))
        first_price = AUCTION_TYPES.index("first_price")
        reacted = quiet.with_columns(
            auction_type=np.where(ring, first_price, quiet.auction_type),
            collusion_penalty=np.where(ring, 1.5, quiet.collusion_penalty),
            reveal_clearing_price=quiet.reveal_clearing_price & ~sliding,
            reserve_price=np.where(leaving, halved, quiet.reserve_price),
        )
        return nearest_allowed(reacted, observations.goals)


def _mean_of_known(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each row over values that are not NaN, or 0 if there are none."""
    known = np.isfinite(values)
    total = np.where(known, values, 0.0).sum(axis=1)
    return np.asarray(total / np.maximum(known.sum(axis=1), 1), dtype=np.float64)
