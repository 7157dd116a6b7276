"""Published experiments on auctions, played here: what was found there, and what we find.

Sources: Banchio & Skrzypacz 2022 (arXiv 2202.05947), Rawat 2023 (arXiv 2306.09437), Dütting, Feng,
Narasimhan, Parkes & Ravindranath 2019 (arXiv 1706.03459), and Akbarpour & Li 2020 (Econometrica).
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from tqdm import tqdm

from daedalus.evaluation.statistics import t_interval
from daedalus.lab.studies.known_optimum import SETTINGS
from daedalus.lab.studies.repeated_auction import Learners, play_repeated
from daedalus.lab.studies.tacit_collusion import KNOWN, MARKET, PAPER, PUBLISHED_FORMATS
from daedalus.lab.theory.distributions import Distribution, Numbers
from daedalus.lab.theory.formats import pays_own_bid
from daedalus.lab.theory.sales import first_price_bids
from daedalus.market.auction import clear_sales
from daedalus.market.literals import AuctionType
from daedalus.market.seeds import generator

BANCHIO, RAWAT = "Banchio & Skrzypacz 2022", "Rawat 2023"
DUTTING, AKBARPOUR = "Dütting et al. 2019", "Akbarpour & Li 2020"

MYERSON_NET = (
    "optimum_uniform_3",
    "optimum_asymmetric",
    "optimum_exponential",
    "optimum_irregular",
)
"""The populations that are settings of MyersonNet."""

SHARES = (0.5, 0.75, 0.9, 0.99, 1.0 - 1e-9, 1.0 + 1e-9)
"""Bids that a seller may add, times the highest bid. The last one keeps the unit."""

_MONEY = ["revenue", "revenue_low", "revenue_high"]
_BOUNDS = {"first_price": "at most 0.35", "second_price": "at least 0.9"}
_ROUNDS, _STRETCHES = 250_000, 250
_SALES = 20_000
_NEAR = 0.02


def row(source: str, quantity: str, target: str, ours: float, agrees: bool) -> dict[str, object]:
    """Return a row of the table of published play."""
    named = {"source": source, "quantity": quantity, "target": target}
    return named | {"ours": float(ours), "agrees": bool(agrees)}


def collusion_rows(outcomes: pd.DataFrame) -> list[dict[str, object]]:
    """Return the rows of Banchio & Skrzypacz, from the frame of ``tacit_collusion.outcomes``."""
    found, rows = outcomes.set_index("bidders"), []
    for name in (PAPER, MARKET):
        first, second = (float(found.loc[name, each]) for each in PUBLISHED_FORMATS)  # type: ignore[arg-type]  # a cell
        for kind, ours, agrees in zip(
            PUBLISHED_FORMATS, (first, second), (first <= 0.35, second >= 0.9), strict=True
        ):
            words = f"revenue over value, {kind.replace('_', ' ')}, {name}"
            rows.append(row(BANCHIO, words, _BOUNDS[kind], ours, agrees))
    known = float(found.loc[KNOWN, "first_price"])  # type: ignore[arg-type]  # a cell
    words = f"revenue over value, first price, {KNOWN}"
    return [*rows, row(BANCHIO, words, "near 0.9", known, known >= 0.85)]


def drawn_learners(seed: int, index: int) -> Learners:
    """Return learners with settings drawn as in the public code of Rawat 2023."""
    rng = generator(seed, "published play/learners", index)
    decay = rng.choice([0.999, 0.9995, 0.9999, 0.99995, 0.99999])
    return Learners(
        bids=np.linspace(0.0, 1.0, int(rng.choice([6, 21, 31, 51]))),
        bidders=int(rng.choice([2, 4])),
        rate=float(rng.choice([0.01, 0.05, 0.1, 0.5])),
        discount=float(rng.choice([0.0, 0.25, 0.5, 0.75, 0.99])),
        softmax=bool(rng.random() < 0.5),
        decay=-math.log(decay),
        least_exploration=0.01,
        payoffs_known=bool(rng.random() < 0.5),
        recall_price=bool(rng.random() < 0.5),
    )


def winning_bids(draws: int, seed: int) -> pd.DataFrame:
    """Play learners with drawn settings in both formats.

    Returns:
        A row for each draw, the mean winning bid of the last 1,000 of 250,000 rounds in each
        format, in units of value.
    """
    rows = []
    for index in tqdm(range(draws), "drawn learners", leave=False, disable=None):
        learners = drawn_learners(seed, index)
        rows.append(
            {
                each: play_repeated(learners, each, _ROUNDS, _STRETCHES, seed, 2, index)[1][-1]
                for each in PUBLISHED_FORMATS
            }
        )
    return pd.DataFrame(rows)


def bid_rows(bids: pd.DataFrame) -> list[dict[str, object]]:
    """Return the rows of Rawat 2023, from the frame of ``winning_bids``."""
    first, second = (float(bids[each].mean()) for each in PUBLISHED_FORMATS)
    low, high = t_interval(bids["first_price"], 0.95)
    words = "winning bid over value, {}, mean over drawn settings"
    target = "0.8, in the 95 % interval"
    return [
        row(RAWAT, words.format("first price"), target, first, low <= 0.8 <= high),
        row(RAWAT, words.format("second price"), "at least 0.9", second, second >= 0.9),
    ]


def in_their_units(shares: pd.DataFrame, theory: pd.DataFrame) -> pd.DataFrame:
    """Return the revenue of designers in the settings of MyersonNet, in the paper's units.

    Args:
        shares: Frames of ``shares_of_optimum`` with a column ``population``.
        theory: The frame of ``theory_table``.

    Returns:
        A row for each designer and setting: ``setting``, ``designer``, ``revenue`` with its
        interval, ``published`` (the optimum) and ``share``. Designers are those that played, and
        ``theory: optimum`` and ``theory: best reserve``, without intervals.
    """
    frames = []
    for name in MYERSON_NET:
        setting, exact = SETTINGS[name], theory[theory["population"] == name]
        known = {"optimum": "theory: optimum", "with_reserve": "theory: best reserve"}
        theory_rows = (
            exact[list(known)].rename(columns=known).melt(var_name="designer", value_name="revenue")
        )
        rows = pd.concat([theory_rows, shares[shares["population"] == name]])
        rows = rows.reindex(columns=["designer", *_MONEY])
        rows[_MONEY] *= setting.scale
        rows.insert(0, "setting", setting.name)
        rows.insert(2, "published", setting.optimum)
        frames.append(rows.assign(share=rows["revenue"] / setting.optimum))
    return pd.concat(frames, ignore_index=True)


def optimum_rows(table: pd.DataFrame, designer: str) -> list[dict[str, object]]:
    """Return the rows of MyersonNet's settings: our theory, and what one designer earns.

    A designer agrees if it takes the optimum to 2 %, neither less nor more: nothing beats it where
    bidders are at an equilibrium. The table is that of ``in_their_units``.
    """
    rows = []
    for name, error in (("theory: optimum", 1e-3), (designer, _NEAR)):
        for each in table[table["designer"] == name].to_dict("records"):
            words, target = f"revenue, {each['setting']}, {name}", f"{each['published']:.4f}"
            agrees = abs(each["share"] - 1.0) <= error
            rows.append(row(DUTTING, words, target, each["revenue"], agrees))
    return rows


def credibility_rows(seed: int) -> list[dict[str, object]]:
    """Return the rows of Akbarpour & Li: what a bid of the seller's own earns, with even values."""
    even, rows = Distribution(np.array([0.0, 1.0]), np.array([0.0, 1.0])), []
    for bidders in (2, 3):
        for kind in PUBLISHED_FORMATS:
            gain = temptation(kind, even, bidders, 0.5, _SALES, seed)
            sale = f"{kind.replace('_', ' ')}, {bidders} bidders, reserve 0.5"
            words = f"gain by a bid of its own, {sale}"
            credible = kind == "first_price"
            agrees = (gain == 0.0) if credible else (gain > 0.0)
            rows.append(row(AKBARPOUR, words, "0" if credible else "above 0", gain, agrees))
    return rows


def temptation(
    auction_type: AuctionType,
    values: Distribution,
    bidders: int,
    reserve: float,
    sales: int,
    seed: int,
) -> float:
    """Return what a seller gains a sale who sees all bids and may add one.

    A bidder is told whether it wins and what it pays, and no bid. An auction is credible if the
    seller cannot gain by what bidders cannot tell (Akbarpour & Li 2020). Here the seller has one
    unit, and adds the best of ``SHARES``. The gain is the mean over sales, in units of value.
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
    return float((np.max(earned, axis=0) - earned[0]).mean())


def _revenue(offers: Numbers, auction_type: AuctionType, reserve: float) -> Numbers:
    """Return what the bidders pay in each sale; the last column is the seller's bid."""
    return np.asarray(clear_sales(offers, auction_type, 1, reserve).paid[:, :-1].sum(axis=1))
