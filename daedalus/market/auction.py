"""Clearing one sealed-bid sale of K identical units: who wins, and who pays what.

The three formats of Krishna (2009, chapters 2, 12 and 13): pay-as-bid, uniform price at the highest
losing bid, and Vickrey-Clarke-Groves. With one unit the last two are the same rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from daedalus.market.compilation import cached_kernel, inlined_kernel, kernel
from daedalus.market.draws import uniform
from daedalus.market.mechanism import AUCTION_TYPES

FIRST_PRICE, SECOND_PRICE, VCG = range(3)
_TIE_BANK, _DRAW_TIE = 256, 7


@inlined_kernel
def _ahead(bid, owner, other_bid, other_owner, key):
    """Return whether a bid ranks before another; equal bids by their owners' tie draws."""
    if bid != other_bid:
        return bid > other_bid
    mine = uniform(key, _TIE_BANK + owner, _DRAW_TIE)
    return mine > uniform(key, _TIE_BANK + other_owner, _DRAW_TIE)


@kernel
def _insert(bid, owner, key, top_bids, top_owners, count):
    """Put a bid into the ranking if it belongs there; return how many bids it now holds."""
    size = len(top_bids)
    if count == size:
        if not _ahead(bid, owner, top_bids[size - 1], top_owners[size - 1], key):
            return count
        count -= 1
    place = count
    while place > 0 and _ahead(bid, owner, top_bids[place - 1], top_owners[place - 1], key):
        top_bids[place] = top_bids[place - 1]
        top_owners[place] = top_owners[place - 1]
        place -= 1
    top_bids[place] = bid
    top_owners[place] = owner
    return count + 1


@kernel
def rank_bids(bids, aliases, reserve, key, top_bids, top_owners):
    """Fill the highest bids that compete, best first, and return their number.

    Args:
        bids: What each bidder offers for a first and a second unit, shape (n, 2); 0 is no bid.
        aliases: What it offers under a false name, shape (n,); 0 is no bid.
        reserve: Lowest bid that competes.
        key: Round key of the tie draws.
        top_bids: Filled in place.
        top_owners: Filled in place: the bidder i, or n + i for its false name.
    """
    count = 0
    for i in range(len(bids)):
        for unit in range(2):
            if bids[i, unit] > 0.0 and bids[i, unit] >= reserve:
                count = _insert(bids[i, unit], i, key, top_bids, top_owners, count)
        if aliases[i] > 0.0 and aliases[i] >= reserve:
            count = _insert(aliases[i], len(bids) + i, key, top_bids, top_owners, count)
    return count


@inlined_kernel
def _displaced(owner, units_won, units, reserve, top_bids, top_owners, count):
    """Return the sum of the losing bids of others that would have won without this winner."""
    total, place = 0.0, units
    for _ in range(units_won):
        while place < count and top_owners[place] == owner:
            place += 1
        total += top_bids[place] if place < count else reserve
        place += 1
    return total


@kernel
def charge(auction_format, units, reserve, top_bids, top_owners, count, won, paid):
    """Fill units won and payments by owner, both of shape (2n,); return the clearing price.

    The clearing price is the lowest winning bid where winners pay their bids, else the highest
    losing one (the reserve if nobody loses); 0 without a sale.
    """
    won[:] = 0
    paid[:] = 0.0
    sold = min(units, count)
    if sold == 0:
        return 0.0
    losing = top_bids[units] if count > units else reserve
    for place in range(sold):
        won[top_owners[place]] += 1
    for place in range(sold):
        owner = top_owners[place]
        if auction_format == FIRST_PRICE:
            paid[owner] += top_bids[place]
        elif auction_format == SECOND_PRICE:
            paid[owner] += losing
        elif paid[owner] == 0.0:
            paid[owner] = _displaced(owner, won[owner], units, reserve, top_bids, top_owners, count)
    return top_bids[sold - 1] if auction_format == FIRST_PRICE else losing


@cached_kernel
def _clear_all(auction_format, units, reserve, bids, aliases, keys, won, paid, prices):
    top_bids, top_owners = np.zeros(units + 2), np.zeros(units + 2, np.int64)
    for sale in range(len(bids)):
        count = rank_bids(bids[sale], aliases[sale], reserve, keys[sale], top_bids, top_owners)
        prices[sale] = charge(
            auction_format, units, reserve, top_bids, top_owners, count, won[sale], paid[sale]
        )


@dataclass(frozen=True)
class Sales:
    """What S independent sales gave.

    Attributes:
        won: Units won by each bidder, shape (S, n).
        paid: What it pays for them in all, in units of value, shape (S, n).
        alias_won: Units won by false names, shape (S, n).
        price: The clearing price, shape (S,): the lowest winning bid in first price, else the
            highest losing one or the reserve; 0 without a sale.
    """

    won: NDArray[np.int64]
    paid: NDArray[np.float64]
    alias_won: NDArray[np.int64]
    price: NDArray[np.float64]


def clear_sales(
    bids: NDArray[np.float64],
    auction_type: str,
    units: int = 1,
    reserve: float = 0.0,
    aliases: NDArray[np.float64] | None = None,
    keys: NDArray[np.uint64] | None = None,
) -> Sales:
    """Clear S sales of K units each.

    Args:
        bids: Offers for a first and a second unit, shape (S, n, 2), or for one unit, shape (S, n);
            0 is no bid.
        auction_type: One of ``AUCTION_TYPES``.
        units: Supply K.
        reserve: Lowest bid that competes.
        aliases: Offers under false names, shape (S, n); 0 is none.
        keys: Keys of the draws that break ties, shape (S,); by default 0, 1, 2 and so on.

    Raises:
        ValueError: A bid is negative or not finite, shapes differ, or there is nothing to sell.
    """
    offers = np.asarray(bids, np.float64)
    if offers.ndim == 2:
        offers = np.stack([offers, np.zeros_like(offers)], axis=2)
    count, n = offers.shape[:2]
    false = np.zeros((count, n)) if aliases is None else np.asarray(aliases, np.float64)
    ties = np.arange(count, dtype=np.uint64) if keys is None else np.asarray(keys, np.uint64)
    shapes = {"bids": (offers, (count, n, 2)), "aliases": (false, (count, n))}
    for name, (each, shape) in (shapes | {"keys": (ties, (count,))}).items():
        if each.shape != shape:
            raise ValueError(f"{name}: shape {each.shape}; give {shape}")
    for name, each in (("bids", offers), ("aliases", false)):
        if not (np.isfinite(each).all() and (each >= 0).all()):
            raise ValueError(f"{name}: give finite numbers from 0 up")
    if units < 1:
        raise ValueError(f"units: {units}; give an integer from 1 up")
    won, paid = np.zeros((count, 2 * n), np.int64), np.zeros((count, 2 * n))
    price = np.zeros(count)
    code = AUCTION_TYPES.index(auction_type)
    _clear_all(code, units, reserve, offers, false, ties, won, paid, price)
    return Sales(won[:, :n], paid[:, :n], won[:, n:], price)
