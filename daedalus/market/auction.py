"""A sealed-bid sale of K identical units: which bids win, and what the winners pay.

Krishna (2009, chapters 2, 12 and 13) has ``first_price`` (pay-as-bid), ``second_price`` (uniform
price at the highest losing bid) and ``vcg`` (Vickrey-Clarke-Groves). With one unit the last two are
the same.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from daedalus.market.draws import TIE, uniform
from daedalus.market.jit.compilation import (
    Floats,
    Records,
    cached_kernel,
    kernel,
    shared_kernel,
)
from daedalus.market.literals import AuctionType
from daedalus.market.mechanism import AUCTION_TYPES

_FIRST_PRICE, _SECOND_PRICE, _VCG = range(len(AUCTION_TYPES))

_LEAST_BID = np.nextafter(0.0, 1.0)  # 0 is no bid

OFFER = np.dtype([(name, np.float64) for name in ("one", "two", "alias")], align=True)
"""A bidder's bids for a first and a second unit and its bid under a false name; 0 is no bid."""

RANKED = np.dtype([("bid", np.float64), ("owner", np.int64)], align=True)
"""A bid that competes; owner i is bidder i, and owner n + i is its false name."""

AWARD = np.dtype([("units", np.int64), ("paid", np.float64)], align=True)
"""Units that an owner won, and what it pays for them in all."""


@kernel
def pays_own_bid(auction_format: int) -> bool:
    """Return whether winners pay their own bids, so that it pays to shade them."""
    return auction_format == _FIRST_PRICE


@kernel
def pays_one_price(auction_format: int) -> bool:
    """Return whether all units have one price, which a bidder's second bid may raise."""
    return auction_format == _SECOND_PRICE


@kernel
def pays_personal_price(auction_format: int) -> bool:
    """Return whether each winner has a price of its own, which it cannot check by its bids."""
    return auction_format == _VCG


def _require_one_payment() -> None:
    """Check that each format has one rule of payment: otherwise kernels take it for another one.

    Raises:
        ValueError: A format has none or several.
    """
    rules = (pays_own_bid, pays_one_price, pays_personal_price)
    for number, name in enumerate(AUCTION_TYPES):
        if sum(inspect.unwrap(rule)(number) for rule in rules) != 1:
            raise ValueError(
                f"auction_type: {name!r} has no single rule of payment; let exactly one of "
                f"{', '.join(rule.__name__ for rule in rules)} in daedalus/market/auction.py be "
                "true of it"
            )


_require_one_payment()


@kernel
def _ahead(bid: float, owner: int, other_bid: float, other_owner: int, key: np.uint64) -> bool:
    """Return whether a bid ranks before another; equal bids rank by draws of their owners."""
    if bid != other_bid:
        return bid > other_bid
    return uniform(key, owner, TIE) > uniform(key, other_owner, TIE)


@kernel
def _insert(bid: float, owner: int, key: np.uint64, ranking: Records, count: int) -> int:
    """Put a bid into the ranking if it belongs there; return how many bids it now holds."""
    size = len(ranking)
    if count == size:
        if not _ahead(bid, owner, ranking[size - 1].bid, ranking[size - 1].owner, key):
            return count
        count -= 1
    place = count
    while place > 0:
        above = ranking[place - 1]
        if not _ahead(bid, owner, above.bid, above.owner, key):
            break
        ranking[place].bid = above.bid
        ranking[place].owner = above.owner
        place -= 1
    ranking[place].bid = bid
    ranking[place].owner = owner
    return count + 1


@shared_kernel
def _rank_bids(
    offers: Records, with_aliases: bool, reserve: float, key: np.uint64, ranking: Records
) -> int:
    """Fill the ranking with the highest bids that compete, best first; return their number.

    Args:
        offers: Bids by bidder, dtype ``OFFER``, shape (n,).
        with_aliases: Whether bids under false names take part.
        reserve: Lowest bid that competes.
        key: Key of the draws that break ties.
        ranking: Filled in place, dtype ``RANKED``.
    """
    count, lowest = 0, max(reserve, _LEAST_BID)
    for i in range(len(offers)):
        offer = offers[i]
        if offer.one >= lowest:
            count = _insert(offer.one, i, key, ranking, count)
        if offer.two >= lowest:
            count = _insert(offer.two, i, key, ranking, count)
        if with_aliases and offer.alias >= lowest:
            count = _insert(offer.alias, len(offers) + i, key, ranking, count)
        if count == len(ranking):
            lowest = ranking[count - 1].bid
    return count


@kernel
def _displaced(
    owner: int, units_won: int, units: int, reserve: float, ranking: Records, count: int
) -> float:
    """Return the sum of the losing bids of others that would have won without this winner."""
    total, place = 0.0, units
    for _ in range(units_won):
        while place < count and ranking[place].owner == owner:
            place += 1
        total += ranking[place].bid if place < count else reserve
        place += 1
    return total


@kernel
def _charge(
    auction_format: int, units: int, reserve: float, ranking: Records, count: int, awards: Records
) -> float:
    """Fill the awards of a ranked sale; return the clearing price.

    Where winners pay their bids, the clearing price is the lowest winning bid. In ``second_price``
    and ``vcg`` it is the highest losing bid, or the reserve if no bid loses. It is 0 without a
    sale.
    """
    for owner in range(len(awards)):
        awards[owner].units = 0
        awards[owner].paid = 0.0
    sold = min(units, count)
    if sold == 0:
        return 0.0
    losing: float = ranking[units].bid if count > units else reserve
    for place in range(sold):
        awards[ranking[place].owner].units += 1
    for place in range(sold):
        owner = ranking[place].owner
        award = awards[owner]
        if pays_own_bid(auction_format):
            award.paid += ranking[place].bid
        elif pays_one_price(auction_format):
            award.paid += losing
        elif award.paid == 0.0:
            award.paid = _displaced(owner, award.units, units, reserve, ranking, count)
    last: float = ranking[sold - 1].bid
    return last if pays_own_bid(auction_format) else losing


@shared_kernel
def clear(
    auction_format: int,
    units: int,
    reserve: float,
    key: np.uint64,
    offers: Records,
    with_aliases: bool,
    ranking: Records,
    awards: Records,
) -> tuple[int, float]:
    """Sell K units; return how many bids compete, and the clearing price.

    Args:
        auction_format: Index into ``AUCTION_TYPES``.
        units: Supply K.
        reserve: Lowest bid that competes.
        key: Key of the draws that break ties.
        offers: Bids by bidder, dtype ``OFFER``, shape (n,).
        with_aliases: Whether bids under false names take part.
        ranking: Filled in place with the highest bids, dtype ``RANKED``, at least K + 2 of them.
        awards: Filled in place by owner, dtype ``AWARD``, shape (2n,).
    """
    count = _rank_bids(offers, with_aliases, reserve, key, ranking)
    return count, _charge(auction_format, units, reserve, ranking, count, awards)


@kernel
def surplus_of_bids(
    auction_format: int,
    one: float,
    two: float,
    bid_one: float,
    bid_two: float,
    lowest: float,
    above: float,
) -> float:
    """Return the surplus of bids if one unit takes ``lowest`` to win and a second ``above``."""
    if bid_one < lowest or bid_one <= 0.0:
        return 0.0
    both = bid_two > 0.0 and bid_two >= above
    if pays_own_bid(auction_format):
        return one - bid_one + (two - bid_two if both else 0.0)
    if pays_one_price(auction_format):
        return one + two - 2.0 * above if both else one - max(bid_two, lowest)
    return one - lowest + (two - above if both else 0.0)


@cached_kernel
def _clear_all(
    auction_format: int,
    units: int,
    reserve: float,
    offers: Records,
    keys: NDArray[np.uint64],
    awards: Records,
    prices: Floats,
) -> None:
    """Clear S sales of ``offers``, shape (S, n); fills ``awards`` and ``prices``."""
    ranking = np.zeros(units + 2, RANKED)
    for s in range(len(offers)):
        _, prices[s] = clear(
            auction_format, units, reserve, keys[s], offers[s], True, ranking, awards[s]
        )


@dataclass(frozen=True)
class Sales:
    """Results of S independent sales.

    Attributes:
        won: Units won by each bidder, shape (S, n).
        paid: What each bidder pays in all, in units of value, shape (S, n).
        alias_won: Units won by false names, shape (S, n).
        price: The clearing price, shape (S,). In ``first_price`` it is the lowest winning bid. In
            ``second_price`` and ``vcg`` it is the highest losing bid, or the reserve. Without a
            sale it is 0.
    """

    won: NDArray[np.int64]
    paid: NDArray[np.float64]
    alias_won: NDArray[np.int64]
    price: NDArray[np.float64]


def clear_sales(
    bids: NDArray[np.float64],
    auction_type: AuctionType,
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
        aliases: Offers under false names, shape (S, n); 0 is no offer.
        keys: Keys of the draws that break ties, shape (S,); by default 0, 1, 2 and so on.

    Raises:
        ValueError: A bid or the reserve is negative or not finite, shapes differ, the number of
            units is no integer from 1 up, or there is no such format.
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
    if not (isinstance(units, Integral) and units >= 1):
        raise ValueError(f"units: {units!r}; give an integer from 1 up")
    if not 0.0 <= reserve < np.inf:
        raise ValueError(f"reserve: {reserve}; give a finite number from 0 up")
    if auction_type not in AUCTION_TYPES:
        raise ValueError(f"auction_type: {auction_type!r}; choose one of {AUCTION_TYPES}")
    table = np.zeros((count, n), OFFER)
    table["one"], table["two"], table["alias"] = offers[:, :, 0], offers[:, :, 1], false
    awards, price = np.zeros((count, 2 * n), AWARD), np.zeros(count)
    _clear_all(AUCTION_TYPES.index(auction_type), units, reserve, table, ties, awards, price)
    won = awards["units"]
    return Sales(won[:, :n], awards["paid"][:, :n], won[:, n:], price)
