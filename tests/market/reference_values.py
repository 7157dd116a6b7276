"""Values of the plain markets, and equilibrium bids for any distribution of them."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from daedalus.market.population import BidderType
from daedalus.market.seat_plan import BidderGroup


def shaded(value: float, rivals: float, reserve: float) -> float:
    """The equilibrium bid v k/(k + 1) + r^(k + 1) / ((k + 1) v^k) against the best of k rivals."""
    if value <= 0 or value < reserve:
        return 0.0
    bid = rivals * value / (rivals + 1)
    if reserve > 0:
        bid += reserve * (reserve / value) ** rivals / (rivals + 1)
    return bid


def unshaded(bid: float, rivals: float, reserve: float) -> float:
    """The value behind such a bid, by four Newton steps from that without a reserve."""
    value = bid * (rivals + 1) / rivals
    for _ in range(4 if reserve > 0 else 0):
        if value <= reserve:
            return reserve
        slope = rivals * (1 - (reserve / value) ** (rivals + 1)) / (rivals + 1)
        value -= (shaded(value, rivals, reserve) - bid) / slope
    return value


class Values:
    """What a bidder draws its values from, and believes that its rivals draw theirs from."""

    def __init__(self, who: BidderType | BidderGroup) -> None:
        self.low, self.high = who.value_low, who.value_high
        self.uniform = who.values is None or who.values.is_uniform
        if not self.uniform:
            self.levels, places = who.values.knots()
            self.places = self.low + (self.high - self.low) * places

    def at(self, draw: float) -> float:
        if self.uniform:
            return self.low + (self.high - self.low) * draw
        return float(np.interp(draw, self.levels, self.places))

    def level(self, value: float) -> float:
        return value if self.uniform else float(np.interp(value, self.places, self.levels))

    def integral(self, start: float, end: float, k: float) -> float:
        """The integral of F^k, from the sum of x^(k + 1) over the slopes of F."""
        if self.uniform:
            return (end ** (k + 1) - start ** (k + 1)) / (k + 1)
        inside = self.places[(self.places > start) & (self.places < end)]
        x = np.array([start, *inside, end])
        levels = np.interp(x, self.places, self.levels)
        rise, width = np.diff(levels), np.diff(x)
        flat = rise < 1e-12
        means = np.diff(levels ** (k + 1)) / np.where(flat, 1.0, rise * (k + 1))
        return float((width * np.where(flat, levels[1:] ** k, means)).sum())

    def shaded(self, value: float, k: float, reserve: float) -> float:
        if self.uniform:
            return shaded(value, k, reserve)
        if value <= 0 or value < reserve:
            return 0.0
        if k == 0:
            return reserve
        power = self.level(value) ** k
        rent = self.integral(reserve, value, k) / power if power > 0 else 0.0
        return max(value - rent, reserve)

    def unshaded(self, bid: float, k: float, reserve: float) -> float:
        if self.uniform:
            return unshaded(bid, k, reserve)
        low = max(reserve, self.low)
        if low >= self.high or self.shaded(self.high, k, reserve) <= bid:
            return max(reserve, self.high)
        if bid <= low:
            return low

        def excess(value: float) -> float:
            return self.shaded(value, k, reserve) - bid

        return optimize.brentq(excess, low, self.high, xtol=1e-14)
