"""The records that the strategic kernels pass to each other.

Compiled code reads and writes their fields as attributes. Arrays of records take the place of many
arrays, and compiled code need not count references to them at each call, as it does for tuples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from daedalus.market.jit.compilation import Record
from daedalus.market.value_distribution import KNOTS

_FLOAT, _FLAG = np.float64, np.bool_

_DESCRIBED = (
    "highest_factor factor_step hedge_rate hedge_share exploration exploration_decay discount"
)
_FLAGS = "opts_out shades withdraws shills efficient recalls_win"
TYPE = np.dtype(
    [(name, _FLOAT) for name in _DESCRIBED.split()]
    + [(name, _FLAG) for name in _FLAGS.split()]
    + [(name, np.int64) for name in ("demand", "ring", "learner", "factors")]
    + KNOTS,
    align=True,
)
"""A bidder type; ``ring`` is its ring, or -1."""

_CARRIED = (
    "value_low value_range outside_option budget discretion expected_surplus learning_rate "
    "rivals_seen rivals_distance reduction_gain shill_gain spent pacing surplus units_won"
)
BIDDER = np.dtype(
    [("kind", np.int32), ("won_last", np.int32)] + [(name, _FLOAT) for name in _CARRIED.split()],
    align=True,
)
"""What a bidder carries from round to round, see ``StrategicState``."""

RING = np.dtype([("gain", _FLOAT), ("punished", np.int64)], align=True)
"""What a ring carries from round to round, see ``StrategicState``."""

_DECIDED = "value_one value_two solo_one solo_two purse net"
SEAT = np.dtype(
    [(name, _FLOAT) for name in _DECIDED.split()]
    + [(name, _FLAG) for name in ("entered", "in_ring", "leads", "breaks", "covers")]
    + [("delivered", np.int64), ("choice", np.int64)],
    align=True,
)
"""What a bidder is and does in the current round.

A seat holds its values, its solo bids (without ring and false name), what it can pay,
and its surplus after fines. The flags say whether it entered, is a member of the ring at hand,
leads its ring, breaks its deal, or covers for the leaders. Then follow units delivered and its
choice from a table.
"""

RESTRICT, SUSPECTED, CONFIRMED = 1, 2, 3
"""Codes of the coalition policies that are enforced."""


class Round(NamedTuple):
    """What most kernels read of the current round: no arrays, so that it costs nothing to pass.

    Attributes:
        parameters: The constants of ``StrategicParameters``.
        mechanism: The mechanism in force, a row of ``Mechanisms.rows``.
        units: Units for sale K.
        key: Key of the round's draws.
        number: Rounds played before.
    """

    parameters: Record
    mechanism: Record
    units: int
    key: np.uint64
    number: int
