"""Credible auctions: what a seller gains by a bid of its own that no bidder can tell (one unit).

A bidder is told whether it wins and what it pays, and no bid. An auction is credible if the seller
cannot gain by what bidders cannot tell (Akbarpour & Li 2020).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from daedalus.lab.theory.distributions import Distribution
from daedalus.lab.theory.formats import pays_own_bid
from daedalus.lab.theory.sales import first_price_bids
from daedalus.market.auction import clear_sales
from daedalus.market.literals import AuctionType
from daedalus.market.seeds import generator

SHARES = (0.5, 0.75, 0.9, 0.99, 1.0 - 1e-9, 1.0 + 1e-9)
"""Bids that the seller may add, times the highest bid. The last one keeps the unit."""


class Temptation(NamedTuple):
    """What a seller earns in a sale, in units of value.

    Attributes:
        revenue: Revenue by the rules.
        gain: What the best of its bids, or none, adds on average.
        harm: What the worst of them adds on average, if it adds one and the same share always.
    """

    revenue: float
    gain: float
    harm: float


def temptation(
    auction_type: AuctionType,
    values: Distribution,
    bidders: int,
    reserve: float,
    sales: int,
    seed: int,
) -> Temptation:
    """Return what a seller gains who sees all bids and may add one.

    Bidders bid the equilibrium: in first price that of their values, otherwise their values.

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
    table = np.array(earned)
    worst = float((table[1:] - table[0]).mean(axis=1).min())
    return Temptation(float(table[0].mean()), float((table.max(axis=0) - table[0]).mean()), worst)


def _revenue(
    offers: np.ndarray[tuple[int, int], np.dtype[np.float64]],
    auction_type: AuctionType,
    reserve: float,
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return what the bidders pay in each sale; the last column is the seller's bid."""
    paid = clear_sales(offers, auction_type, 1, reserve).paid[:, :-1].sum(axis=1)
    return np.asarray(paid)
