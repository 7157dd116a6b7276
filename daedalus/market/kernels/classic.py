"""The classic market's loop over episodes and rounds.

Nothing here checks its input: ``daedalus/market/classic.py`` does.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daedalus.market.auction import pays_own_bid
from daedalus.market.draws import (
    CLASSIC_BID,
    CLASSIC_POLICY,
    CLASSIC_RISK,
    CLASSIC_VALUE,
    round_key,
    uniform,
)
from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.jit.compilation import (
    Flags,
    Floats,
    Integers,
    Record,
    Records,
    kernel,
    threaded_kernel,
)
from daedalus.market.kernels.values import value_at
from daedalus.market.measures import RECENT_ROUNDS, before, collusion_signal, stability
from daedalus.market.outcome import (
    COLLUSION_SIGNAL,
    COMPOSITE,
    DROPOUTS,
    GINI,
    PARTICIPATION,
    PRICE,
    REVENUE,
    REVENUE_SHARE,
    STABILITY,
    WELFARE,
)
from daedalus.market.value_distribution import KNOTS

SEAT = np.dtype(
    [(name, np.float64) for name in ("value_low", "value_range", "threshold")]
    + [("kind", np.int64), ("partner", np.int64)]
    + KNOTS
)
"""A bidder: the range and distribution of its values, a dropout's threshold, its kind, a colluder's
partner."""

_CARRIED = ("value", "surplus", "budget", "disappointment")
BIDDER = np.dtype([(name, np.float64) for name in _CARRIED] + [("turn", np.int64)], align=True)
"""What a bidder carries from round to round, see ``ClassicState``."""

_TRUTHFUL, _SHADER, _DROPOUT, _COLLUDER, _EXPLOITER = range(5)
_ALLOW, _RESTRICT = 0, 1


@kernel
def _recent_mean(past: Floats, length: int, played: int, window: int) -> float:
    """Return the mean over the last ``window`` of ``played`` rounds (all if fewer).

    ``past`` is a ring buffer of the given length, which is a constant where this is called.
    """
    count, slot = min(window, played), played % length
    total = 0.0
    for _ in range(count):
        slot = before(slot, length)
        total += past[slot]
    return total / count


@kernel
def _shader_bid(
    mechanism: Record, value: float, active: int, cheap_price: float, draw: float
) -> float:
    """Return a shader's bid among ``active`` bidders; ``cheap_price`` is the recent mean price."""
    if not pays_own_bid(mechanism.auction_type):
        return value * (1.0 - (0.02 + 0.03 * draw))
    factor = (active - 1) / max(active, 2)
    if mechanism.reveal_clearing_price:
        factor -= 0.03
    if mechanism.reveal_competing_bids:
        factor -= 0.05
    if cheap_price < 0.7 * value:
        factor -= 0.05
    return min(max(factor, 0.5), 0.95) * value


@kernel
def _colluder_bid(mechanism: Record, key: np.uint64, i: int, value: float, turn: bool) -> float:
    """Return the bid of the colluder in seat ``i``; ``turn`` is whether it is the one to win."""
    reserve: float = mechanism.reserve_price
    willing = mechanism.coalition_policy == _ALLOW or (
        mechanism.coalition_policy == _RESTRICT and uniform(key, i, CLASSIC_POLICY) > 0.5
    )
    risk = 0.4 if mechanism.collusion_penalty > 1.0 else 0.0
    if not (willing and uniform(key, i, CLASSIC_RISK) > risk):
        return value * (0.85 if pays_own_bid(mechanism.auction_type) else 0.98)
    if mechanism.reveal_winner_identity:
        return reserve + 0.01 if turn else 0.3 * reserve
    if not turn:
        return 0.5 * reserve
    return min(value, max(reserve + 0.02 + 0.05 * uniform(key, i, CLASSIC_BID), 0.5 * value))


@kernel
def _gini(bidders: Records, present: Flags) -> float:
    """Return the Gini coefficient of the surplus of those present; a negative one counts as 0."""
    total, differences, count = 0.0, 0.0, 0
    for i in range(len(bidders)):
        if not present[i]:
            continue
        mine = max(bidders[i].surplus, 0.0)
        count += 1
        total += mine
        for j in range(i):
            if present[j]:
                differences += abs(mine - max(bidders[j].surplus, 0.0))
    return differences / (count * total) if total > 0.0 else 0.0


@kernel
def _bid_all(
    seats: Records,
    mechanism: Record,
    key: np.uint64,
    played: int,
    present_count: int,
    active: Flags,
    bids: Floats,
    prices: Floats,
    bidders: Records,
) -> None:
    """Draw values and fill ``bids``; dropouts and exploiters without money leave ``active``."""
    reserve, first_price = mechanism.reserve_price, pays_own_bid(mechanism.auction_type)
    cheap_price = _recent_mean(prices, HISTORY_LENGTH, played, 5) if played > 2 else np.inf
    for i in range(len(seats)):
        seat, bidder = seats[i], bidders[i]
        bids[i] = 0.0
        if not active[i]:
            continue
        value = value_at(seat, seat, uniform(key, i, CLASSIC_VALUE))
        bidder.value = value
        if seat.kind == _TRUTHFUL:
            bids[i] = value
        elif seat.kind == _SHADER:
            draw = uniform(key, i, CLASSIC_BID)
            bids[i] = _shader_bid(mechanism, value, present_count, cheap_price, draw)
        elif seat.kind == _COLLUDER:
            bids[i] = _colluder_bid(mechanism, key, i, value, bidder.turn == 1)
        elif seat.kind == _DROPOUT:
            expected = value - reserve - 0.05
            bidder.disappointment += 0.1 * expected if expected > 0.0 else -0.02
            if bidder.disappointment < -seat.threshold or reserve > 0.9 * value:
                active[i] = False
            else:
                bids[i] = 0.9 * value if first_price else value
        elif bidder.budget <= 0.0:
            active[i] = False
        else:
            share = 0.6 if bidder.budget > 1.5 else 0.3
            bids[i] = min(value * share, 0.3 * bidder.budget)


@kernel
def _clear(mechanism: Record, bids: Floats, present: Flags) -> tuple[int, float]:
    """Return the winner (-1 without a sale) and the price."""
    winner, best, second = -1, -1.0, mechanism.reserve_price
    for i in range(len(bids)):
        if not present[i] or bids[i] < mechanism.reserve_price:
            continue
        if bids[i] > best:
            if winner >= 0:
                second = best
            winner, best = i, bids[i]
        elif bids[i] > second:
            second = bids[i]
    if winner < 0:
        return -1, 0.0
    return winner, best if pays_own_bid(mechanism.auction_type) else second


@kernel
def _settle(
    seats: Records,
    mechanism: Record,
    winner: int,
    price: float,
    active: Flags,
    bids: Floats,
    bidders: Records,
    wins: Integers,
) -> None:
    """Book the sale: surplus, a fine if the winner's ring is proven, budget and wins."""
    bidder = bidders[winner]
    gain = bidder.value - price
    kind = seats[winner].kind
    if kind == _COLLUDER and mechanism.collusion_penalty > 0.0:
        other = seats[winner].partner
        if other != winner and active[other] and bids[other] < 0.8 * mechanism.reserve_price:
            gain -= 0.3 * price * mechanism.collusion_penalty
    elif kind == _EXPLOITER:
        bidder.budget -= price
    bidder.surplus = gain
    wins[winner] += 1


@kernel
def _come_and_go(
    seats: Records,
    reserve: float,
    played: int,
    active: Flags,
    participation: Floats,
    bidders: Records,
) -> None:
    """Pass the colluders' turn on, let dropouts return and exploiters without money leave."""
    returning = (
        played > 3 and reserve < 0.3 and _recent_mean(participation, RECENT_ROUNDS, played, 3) > 0.6
    )
    for i in range(len(seats)):
        kind, bidder = seats[i].kind, bidders[i]
        if kind == _COLLUDER:
            bidder.turn = 1 - bidder.turn
        elif kind == _DROPOUT and returning and not active[i]:
            active[i] = True
            bidder.disappointment = 0.0
        elif kind == _EXPLOITER and bidder.budget <= 0.0:
            active[i] = False


@kernel
def _record(
    record: Floats,
    winner: int,
    price: float,
    present_count: int,
    present: Flags,
    active: Flags,
    bids: Floats,
    bidders: Records,
    wins: Integers,
    welfares: Floats,
    played: int,
) -> None:
    """Fill a round's record; ``ROUND_FIELDS`` names its columns."""
    best = 0.0
    out = 0
    for i in range(len(bidders)):
        best = max(best, bidders[i].value)
        out += not active[i]
    value = bidders[winner].value if winner >= 0 else 0.0
    welfare = min(value / best, 1.0) if best > 0.0 else 0.0
    gini = _gini(bidders, present)
    participation = present_count / len(bidders)
    collusion = collusion_signal(bids, present, wins, len(wins))
    steadiness = stability(welfares, played, welfare)
    multiplier = max(0.5, 1.0 - 0.5 * collusion) if collusion > 0.5 else 1.0
    record[WELFARE] = welfare
    record[GINI] = gini
    record[PARTICIPATION] = participation
    record[PRICE] = price
    record[DROPOUTS] = out
    record[COLLUSION_SIGNAL] = collusion
    record[STABILITY] = steadiness
    record[COMPOSITE] = welfare * (1.0 - gini) * participation * steadiness * multiplier
    record[REVENUE] = price
    record[REVENUE_SHARE] = min(price / value, 1.0) if value > 0.0 else 0.0


@kernel
def _play_episode(
    seats: Records,
    mechanism: Record,
    seed: np.uint64,
    first: int,
    active: Flags,
    bids: Floats,
    previous_bids: Floats,
    wins: Integers,
    prices: Floats,
    welfares: Floats,
    participation: Floats,
    bidders: Records,
    records: Floats,
    present: Flags,
) -> None:
    """Play all rounds of one episode, of which ``first`` were played before."""
    for r in range(len(records)):
        record, played = records[r], first + r
        present_count = 0
        for i in range(len(seats)):
            previous_bids[i] = bids[i]
            present[i] = active[i]
            present_count += present[i]
        _bid_all(
            seats, mechanism, round_key(seed, played), played, present_count, active, bids, prices,
            bidders,
        )  # fmt: skip
        winner, price = _clear(mechanism, bids, present)
        if winner >= 0:
            _settle(seats, mechanism, winner, price, active, bids, bidders, wins)
        _come_and_go(seats, mechanism.reserve_price, played, active, participation, bidders)
        _record(
            record, winner, price, present_count, present, active, bids, bidders, wins, welfares,
            played,
        )  # fmt: skip
        prices[played % HISTORY_LENGTH] = price
        welfares[played % RECENT_ROUNDS] = record[WELFARE]
        participation[played % RECENT_ROUNDS] = record[PARTICIPATION]


@threaded_kernel
def play_rounds(
    seats: Records,
    mechanisms: Records,
    seeds: NDArray[np.uint64],
    rounds: Integers,
    active: Flags,
    bids: Floats,
    previous_bids: Floats,
    wins: Integers,
    prices: Floats,
    welfares: Floats,
    participation: Floats,
    bidders: Records,
    records: Floats,
) -> None:
    """Play ``records.shape[1]`` rounds in every episode.

    Changes in place the state arrays ``rounds`` to ``bidders`` and fills ``records``.
    """
    present = np.empty(len(seats), np.bool_)
    for e in range(len(seeds)):
        _play_episode(
            seats, mechanisms[e], seeds[e], rounds[e], active[e], bids[e], previous_bids[e],
            wins[e], prices[e], welfares[e], participation[e], bidders[e], records[e], present,
        )  # fmt: skip
        rounds[e] += records.shape[1]
