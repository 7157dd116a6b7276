"""Numba kernels of the classic rules: arrays and scalars in, arrays changed in place.

Nothing here checks its input: ``classic.py`` does.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from daedalus.market.compilation import inlined_kernel, parallel_kernel
from daedalus.market.draws import round_key, uniform
from daedalus.market.measures import collusion_signal, stability
from daedalus.market.outcome import HISTORY_LENGTH

_TRUTHFUL, _SHADER, _DROPOUT, _COLLUDER, _EXPLOITER = range(5)
_FIRST_PRICE = 0
_ALLOW, _RESTRICT = 0, 1
_DRAW_VALUE, _DRAW_POLICY, _DRAW_RISK, _DRAW_BID = range(4)
_WELFARE, _GINI, _PARTICIPATION, _PRICE = 0, 1, 2, 3
_DROPOUTS, _COLLUSION, _STABILITY, _COMPOSITE, _REVENUE, _REVENUE_SHARE = 4, 5, 6, 7, 8, 9


@inlined_kernel
def _history_mean(history, played, window, column):
    """Return a column's mean over the last ``window`` of ``played`` rounds (all if fewer)."""
    count = min(window, played)
    total = 0.0
    for back in range(1, count + 1):
        total += history[(played - back) % HISTORY_LENGTH, column]
    return total / count


@inlined_kernel
def _shader_bid(value, active, first_price, competing, price_shown, cheap_price, draw):
    if not first_price:
        return value * (1.0 - (0.02 + 0.03 * draw))
    factor = (active - 1) / max(active, 2)
    if price_shown:
        factor -= 0.03
    if competing:
        factor -= 0.05
    if cheap_price < 0.7 * value:
        factor -= 0.05
    return min(max(factor, 0.5), 0.95) * value


@inlined_kernel
def _colluder_bid(key, seat, value, turn, first_price, reserve, winner_shown, penalty, policy):
    willing = policy == _ALLOW or (policy == _RESTRICT and uniform(key, seat, _DRAW_POLICY) > 0.5)
    risk = 0.4 if penalty > 1.0 else 0.0
    if not (willing and uniform(key, seat, _DRAW_RISK) > risk):
        return value * (0.85 if first_price else 0.98)
    if winner_shown:
        return reserve + 0.01 if turn else 0.3 * reserve
    if not turn:
        return 0.5 * reserve
    return min(value, max(reserve + 0.02 + 0.05 * uniform(key, seat, _DRAW_BID), 0.5 * value))


@inlined_kernel
def _gini(surplus, present):
    """Return the Gini coefficient of the present bidders' surplus, negative ones taken as 0."""
    total, differences, count = 0.0, 0.0, 0
    for i in range(len(surplus)):
        if not present[i]:
            continue
        mine = max(surplus[i], 0.0)
        count += 1
        total += mine
        for j in range(i):
            if present[j]:
                differences += abs(mine - max(surplus[j], 0.0))
    return differences / (count * total) if total > 0.0 else 0.0


@inlined_kernel
def _bid_all(
    kinds, value_low, value_range, threshold, key, played, present_count,
    active, bids, history, values, budget, disappointment, turn,
    first_price, reserve, competing, winner_shown, price_shown, penalty, policy,
):  # fmt: skip
    """Draw values and fill ``bids``; dropouts and spent exploiters leave ``active``."""
    cheap_price = _history_mean(history, played, 5, _PRICE) if played > 2 else np.inf
    for i in range(len(kinds)):
        bids[i] = 0.0
        if not active[i]:
            continue
        value = value_low[i] + value_range[i] * uniform(key, i, _DRAW_VALUE)
        values[i] = value
        kind = kinds[i]
        if kind == _TRUTHFUL:
            bids[i] = value
        elif kind == _SHADER:
            bids[i] = _shader_bid(
                value, present_count, first_price, competing, price_shown, cheap_price,
                uniform(key, i, _DRAW_BID),
            )  # fmt: skip
        elif kind == _COLLUDER:
            bids[i] = _colluder_bid(
                key, i, value, turn[i], first_price, reserve, winner_shown, penalty, policy
            )
        elif kind == _DROPOUT:
            expected = value - reserve - 0.05
            disappointment[i] += 0.1 * expected if expected > 0.0 else -0.02
            if disappointment[i] < -threshold[i] or reserve > 0.9 * value:
                active[i] = False
            else:
                bids[i] = 0.9 * value if first_price else value
        elif budget[i] <= 0.0:
            active[i] = False
        else:
            bids[i] = min(value * (0.6 if budget[i] > 1.5 else 0.3), 0.3 * budget[i])


@inlined_kernel
def _clear(bids, present, first_price, reserve):
    """Return the winner (-1 without a sale) and the price."""
    winner, best, second = -1, -1.0, reserve
    for i in range(len(bids)):
        if not present[i] or bids[i] < reserve:
            continue
        if bids[i] > best:
            if winner >= 0:
                second = best
            winner, best = i, bids[i]
        elif bids[i] > second:
            second = bids[i]
    if winner < 0:
        return -1, 0.0
    return winner, best if first_price else second


@inlined_kernel
def _settle(
    kinds, partner, winner, price, active, bids, values, surplus, budget, wins, reserve, penalty
):
    """Book the sale: surplus, fine on a proven ring, budget and win count."""
    gain = values[winner] - price
    kind = kinds[winner]
    if kind == _COLLUDER and penalty > 0.0:
        other = partner[winner]
        if other != winner and active[other] and bids[other] < 0.8 * reserve:
            gain -= 0.3 * price * penalty
    elif kind == _EXPLOITER:
        budget[winner] -= price
    surplus[winner] = gain
    wins[winner] += 1


@inlined_kernel
def _come_and_go(kinds, played, active, history, budget, disappointment, turn, reserve):
    """Pass the colluders' turn, let dropouts return and spent exploiters leave."""
    returning = (
        played > 3 and reserve < 0.3 and _history_mean(history, played, 3, _PARTICIPATION) > 0.6
    )
    for i in range(len(kinds)):
        kind = kinds[i]
        if kind == _COLLUDER:
            turn[i] = not turn[i]
        elif kind == _DROPOUT and returning and not active[i]:
            active[i] = True
            disappointment[i] = 0.0
        elif kind == _EXPLOITER and budget[i] <= 0.0:
            active[i] = False


@inlined_kernel
def _record(
    record, winner, price, present_count, present, active, bids, values, surplus, wins,
    history, played,
):  # fmt: skip
    """Fill a round's record; ``ROUND_FIELDS`` names its columns."""
    best = 0.0
    out = 0
    for i in range(len(values)):
        best = max(best, values[i])
        out += not active[i]
    welfare = min(values[winner] / best, 1.0) if winner >= 0 and best > 0.0 else 0.0
    gini = _gini(surplus, present)
    participation = present_count / len(values)
    collusion = collusion_signal(bids, present, wins)
    steadiness = stability(history, _WELFARE, played, welfare)
    multiplier = max(0.5, 1.0 - 0.5 * collusion) if collusion > 0.5 else 1.0
    record[_WELFARE] = welfare
    record[_GINI] = gini
    record[_PARTICIPATION] = participation
    record[_PRICE] = price
    record[_DROPOUTS] = out
    record[_COLLUSION] = collusion
    record[_STABILITY] = steadiness
    record[_COMPOSITE] = welfare * (1.0 - gini) * participation * steadiness * multiplier
    record[_REVENUE] = price
    record[_REVENUE_SHARE] = min(price / values[winner], 1.0) if winner >= 0 else 0.0


@parallel_kernel
def play_rounds(
    kinds, value_low, value_range, threshold, partner,
    seeds, rounds, active, bids, previous_bids, wins, history,
    values, surplus, budget, disappointment, turn,
    auction_type, reserve_price, reveal_competing, reveal_winner, reveal_price,
    collusion_penalty, coalition_policy,
    records,
):  # fmt: skip
    """Play ``records.shape[1]`` rounds in every episode.

    Changes in place the state arrays ``rounds`` to ``turn`` and fills ``records``.
    """
    for e in prange(len(seeds)):
        present = np.empty(len(kinds), np.bool_)
        first_price = auction_type[e] == _FIRST_PRICE
        reserve = reserve_price[e]
        penalty = collusion_penalty[e]
        for r in range(records.shape[1]):
            played = rounds[e]
            key = round_key(seeds[e], played)
            present_count = 0
            for i in range(len(kinds)):
                previous_bids[e, i] = bids[e, i]
                present[i] = active[e, i]
                present_count += present[i]
            _bid_all(
                kinds, value_low, value_range, threshold, key, played, present_count,
                active[e], bids[e], history[e], values[e], budget[e], disappointment[e], turn[e],
                first_price, reserve, reveal_competing[e], reveal_winner[e], reveal_price[e],
                penalty, coalition_policy[e],
            )  # fmt: skip
            winner, price = _clear(bids[e], present, first_price, reserve)
            if winner >= 0:
                _settle(
                    kinds, partner, winner, price, active[e], bids[e], values[e], surplus[e],
                    budget[e], wins[e], reserve, penalty,
                )  # fmt: skip
            _come_and_go(
                kinds, played, active[e], history[e], budget[e], disappointment[e], turn[e], reserve
            )
            record = records[e, r]
            _record(
                record, winner, price, present_count, present, active[e], bids[e], values[e],
                surplus[e], wins[e], history[e], played,
            )  # fmt: skip
            for column in range(len(record)):
                history[e, played % HISTORY_LENGTH, column] = record[column]
            rounds[e] = played + 1
