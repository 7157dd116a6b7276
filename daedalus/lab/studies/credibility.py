"""Credible auctions: what a seller gains by a bid of its own that no bidder can tell (one unit).

A bidder is told whether it wins and what it pays, and no bid. An auction is credible if the seller
cannot gain by what bidders cannot tell (Akbarpour & Li 2020).
"""

from __future__ import annotations

import numpy as np

from daedalus.lab.theory.distributions import Distribution
from daedalus.lab.theory.formats import pays_own_bid
from daedalus.lab.theory.sales import first_price_bids
from daedalus.market.auction import clear_sales
from daedalus.market.literals import AuctionType
from daedalus.market.seeds import generator

SHARES = (0.5, 0.75, 0.9, 0.99, 1.0 - 1e-9, 1.0 + 1e-9)
"""Bids that the seller may add, times the highest bid. The last one keeps the unit."""


def temptation(
    auction_type: AuctionType,
    values: Distribution,
    bidders: int,
    reserve: float,
    sales: int,
    seed: int,
) -> float:
    """Return what a seller gains a sale who sees all bids and may add the best of ``SHARES``.

    The gain is the mean over sales, in units of value. Bidders bid the equilibrium: in first price
    that of their values, otherwise their values.

    Args:
        auction_type: The format.
        values: Distribution of values.
        bidders: Number of bidders n.
        reserve: Lowest bid that competes.
        sales: Number of sales that are drawn.
        seed: Seed of the run.
    """
    rng = generator(seed, "credibility", bidders)
    drawn = values.quantile(rng.random(sales * bidders))
    bids = drawn.copy()
    if pays_own_bid(auction_type):
        takes_part = drawn >= reserve
        bids[takes_part] = first_price_bids(drawn[takes_part], values, bidders, reserve)
    offers = np.column_stack([bids.reshape(sales, bidders), np.zeros(sales)])
    highest = offers.max(axis=1)
    earned = [_revenue(offers, auction_type, reserve)]
    for share in SHARES:
        offers[:, -1] = share * highest
        earned.append(_revenue(offers, auction_type, reserve))
    return float((np.max(earned, axis=0) - earned[0]).mean())


def _revenue(
    offers: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    auction_type: AuctionType,
    reserve: float,
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return what the bidders pay in each sale; the last column is the seller's bid."""
    paid = clear_sales(offers, auction_type, 1, reserve).paid[:, :-1].sum(axis=1)
    return np.asarray(paid)
