"""Kernels of bidders' values: how they are drawn, and how bidders shade them.

A bidder believes that its rivals' values have the distribution F of its own, and that the best of
them has F^k, where k is the number of rivals that it expects. For uniform values F is the value.
"""

from __future__ import annotations

from daedalus.market.jit.compilation import Floats, Record, kernel, shared_kernel

_NEGLIGIBLE = 1e-12
_HALVINGS = 40


@kernel
def _segment(knots: Floats, count: int, at: float) -> int:
    """Return k such that ``at`` is from knot k to knot k + 1."""
    low, high = 0, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if knots[middle] <= at:
            low = middle
        else:
            high = middle
    return low


@shared_kernel
def _between(across: Floats, along: Floats, count: int, at: float) -> float:
    """Return where the line through the knots is in ``along`` if it is at ``at`` in ``across``."""
    k = _segment(across, count, at)
    width = across[k + 1] - across[k]
    share = min(max((at - across[k]) / width, 0.0), 1.0) if width > 0.0 else 1.0
    found: float = along[k] + share * (along[k + 1] - along[k])
    return found


@kernel
def value_at(t: Record, bidder: Record, level: float) -> float:
    """Return a bidder's value at a level in [0, 1) of its distribution."""
    share = level
    if t.knots > 0:
        share = _between(t.levels, t.places, t.knots, level)
    value: float = bidder.value_low + bidder.value_range * share
    return value


@kernel
def level_of(t: Record, bidder: Record, value: float) -> float:
    """Return the level F of a value, in [0, 1]. For uniform values this is the value itself."""
    if t.knots == 0:
        return value
    return _between(t.places, t.levels, t.knots, (value - bidder.value_low) / bidder.value_range)


@shared_kernel
def _uniform_shaded_bid(value: float, rivals: float, reserve: float) -> float:
    """Return ``shaded_bid`` for values that are uniform from 0 to 1: (k v + r (r/v)^k)/(k + 1)."""
    if value <= 0.0 or value < reserve:
        return 0.0
    bid = rivals * value
    if reserve > 0.0:
        bid += reserve * (reserve / value) ** rivals
    return bid / (rivals + 1.0)


@kernel
def _uniform_value_behind(bid: float, rivals: float, reserve: float) -> float:
    """Return ``value_behind`` for values that are uniform from 0 to 1, by Newton's method."""
    value = bid * (rivals + 1.0) / rivals
    if reserve > 0.0:
        for _ in range(4):
            if value <= reserve:
                return reserve
            tail = (reserve / value) ** rivals
            excess = rivals * value + reserve * tail - (rivals + 1.0) * bid
            value -= excess / (rivals * (1.0 - tail * reserve / value))
    return value


@kernel
def _mean_power(low: float, high: float, power: float) -> float:
    """Return the mean of x^k between two levels, 0 <= low <= high."""
    if high - low < _NEGLIGIBLE:
        mean: float = high**power
    else:
        mean = (high ** (power + 1.0) - low ** (power + 1.0)) / ((power + 1.0) * (high - low))
    return mean


@shared_kernel
def _rent(t: Record, bidder: Record, value: float, rivals: float, reserve: float) -> float:
    """Return the integral of (F(x)/F(v))^k from the reserve to v, exact on each segment of F."""
    if rivals == 0.0:
        return value - reserve
    low, width = bidder.value_low, bidder.value_range
    place, end = (value - low) / width, max((reserve - low) / width, 0.0)
    top = level_of(t, bidder, value)
    if top <= 0.0:
        return 0.0
    least = top * _NEGLIGIBLE ** (1.0 / rivals)
    k, level, rent = _segment(t.places, t.knots, place), top, 0.0
    while k >= 0 and place > end and level > least:
        before, below = t.places[k], t.levels[k]
        if before < end:
            before, below = end, _between(t.places, t.levels, t.knots, end)
        rent += (place - before) * _mean_power(below / top, level / top, rivals)
        place, level, k = before, below, k - 1
    gained: float = width * rent
    return gained


@kernel
def shaded_bid(t: Record, bidder: Record, value: float, rivals: float, reserve: float) -> float:
    """Return the first-price equilibrium bid against the best of ``rivals`` values like its own.

    It is the value v less the integral of (F(x)/F(v))^k from the reserve to v (Krishna 2009, §2.5),
    where k is the number of rivals.
    """
    if t.knots == 0:
        return _uniform_shaded_bid(value, rivals, reserve)
    if value <= 0.0 or value < reserve:
        return 0.0
    if rivals == 0.0:
        return reserve
    bid: float = max(value - _rent(t, bidder, value, rivals, reserve), reserve)
    return bid


@kernel
def expected_rent(t: Record, bidder: Record, value: float, rivals: float, floor: float) -> float:
    """Return the integral of F^k from a floor to a value: what it gains over the better of both."""
    if t.knots == 0:
        power = 1.0 + rivals
        gain: float = (value**power - floor**power) / power
        return gain
    rent: float = level_of(t, bidder, value) ** rivals * _rent(t, bidder, value, rivals, floor)
    return rent


@kernel
def _bid_within(
    t: Record, k: int, place: float, start: float, rent: float, rivals: float
) -> tuple[float, float]:
    """Return the bid of a value on segment k, as a place, and the integral of F^k up to it.

    Args:
        t: The bidder's type.
        k: Number of the segment.
        place: The value's place.
        start: Where the integral starts on this segment.
        rent: The integral up to there.
        rivals: Number of rivals k.
    """
    low, high = _between(t.places, t.levels, t.knots, start), t.levels[k + 1]
    width = t.places[k + 1] - start
    level = high
    if place < t.places[k + 1]:
        level = low + (high - low) * (place - start) / width
    rent += (place - start) * _mean_power(low, level, rivals)
    power = level**rivals
    return (place - rent / power if power > 0.0 else place), rent


@kernel
def value_behind(t: Record, bidder: Record, bid: float, rivals: float, reserve: float) -> float:
    """Return the value behind a first-price bid, the inverse of ``shaded_bid``."""
    if t.knots == 0:
        return _uniform_value_behind(bid, rivals, reserve)
    return _searched(t, bidder, bid, rivals, reserve)


@shared_kernel
def _searched(t: Record, bidder: Record, bid: float, rivals: float, reserve: float) -> float:
    """Return the value behind a bid: walk up to its segment of F, and find it by bisection."""
    low, width = bidder.value_low, bidder.value_range
    least: float = max(reserve, low)
    if bid <= least or least >= low + width:
        return least
    aim, start, rent = (bid - low) / width, (least - low) / width, 0.0
    for k in range(_segment(t.places, t.knots, start), t.knots - 1):
        end = t.places[k + 1]
        reached, more = _bid_within(t, k, end, start, rent, rivals)
        if reached >= aim:
            below = start
            for _ in range(_HALVINGS):
                middle = 0.5 * (below + end)
                if _bid_within(t, k, middle, start, rent, rivals)[0] < aim:
                    below = middle
                else:
                    end = middle
            break
        start, rent = end, more
    value: float = low + width * end
    return value
