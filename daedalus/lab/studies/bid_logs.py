"""Simulated logs of bids of twelve kinds, with the truth that theory tells of each.

Values are .5 + .5 u, or u from 0, with u even in [0, 1]. Where not said otherwise three bidders bid
first-price equilibria. A level multiplies all values of a sale and its bids; its logarithm is
normal with mean 0 and the deviation sigma. The estimate is right about:

- **Quartiles of values** at the level 1, and with a covariate in a sale of size 1. With a binding
  reserve they are those of the bidders who came, as no log tells of the others. Of bidders who
  differ they are those of all together.
- **The best reserve**: the one reserve that a seller would set in all sales who knows the
  distributions of values, levels and numbers of bidders, but no level. It counts in money; with a
  covariate, in that of a sale of size 1. Reserves that lose less than a ten-thousandth of the
  revenue are best too, so the truth is an interval. For values .5 + .5 u it reaches down to 0. With
  a binding reserve, all sales count, and also those with one bidder or none, which the log lacks.
- **The gain** of the reserve that the report sets on the one in force, of a sale, in money. It is
  the gain of that very reserve, not of the best one.

Revenue is that of a second-price sale, as in the report. It is also that of first price, if bidders
are alike (Myerson 1981). If they are not, or are a ring, it is the second-price form alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from daedalus.lab.bids.settings import ASCENDING, BidLogSettings
from daedalus.lab.studies.bid_play import Curves, Group, jump_bids, two_groups
from daedalus.lab.theory import equilibria
from daedalus.lab.theory.distributions import Distribution, Numbers
from daedalus.lab.theory.sales import Bidder, expected_revenue, symmetric

RESERVE, STEP, INCREMENT = 0.5, 0.1, 0.02
"""The binding reserve, the step to which bids are rounded, and the increment of ascending sales."""

_JUMP, _STRONGER, _ENTRY, _POWER = 0.3, 1.4, 0.3, 0.7
_COVER = (0.8, 0.98)  # bids of a ring's other members, as shares of its bid
_SAME = 1e-4  # share of revenue up to which reserves are equally good
_STEPS, _LEVELS = 1001, 400
_QUARTILES = np.array([0.25, 0.5, 0.75])

Revenue = Callable[[Numbers], Numbers]


@dataclass(frozen=True)
class Truth:
    """What is true of the sales of a log.

    Attributes:
        quartiles: Quartiles of values at the level 1, shape (3,).
        reserves: Reserves in money, rising from 0, shape (R,).
        revenue: Expected revenue of a sale of size 1 at each of them, shape (R,).
        in_force: The reserve in force.
    """

    quartiles: Numbers
    reserves: Numbers
    revenue: Numbers
    in_force: float = 0.0

    @property
    def best(self) -> tuple[float, float]:
        """Return the lowest and the highest of the best reserves."""
        best = self.reserves[self.revenue >= (1.0 - _SAME) * self.revenue.max()]
        return float(best[0]), float(best[-1])

    def gain(self, reserves: Numbers, sizes: Numbers) -> float:
        """Return the mean gain of reserves on the one in force.

        Args:
            reserves: The reserve of each sale, in money, shape (A,).
            sizes: What each sale is worth, compared with one of size 1, shape (A,).
        """
        earned = np.interp(reserves / sizes, self.reserves, self.revenue)
        return float(
            (sizes * (earned - np.interp(self.in_force, self.reserves, self.revenue))).mean()
        )


@dataclass(frozen=True)
class Kind:
    """A kind of logs.

    Attributes:
        words: What it is, for figures.
        draw: Takes a number of sales and a source of chance; returns a row for each bid.
        truth: Returns what is true of them.
        reading: Settings with which the log is read, but for the resamples.
    """

    words: str
    draw: Callable[[int, np.random.Generator], pd.DataFrame]
    truth: Callable[[], Truth]
    reading: dict[str, object] = field(default_factory=dict)

    def settings(self, resamples: int) -> BidLogSettings:
        """Return how a log of this kind is read."""
        return BidLogSettings(resamples=resamples, **self.reading)  # type: ignore[arg-type]


def sizes_of(covariates: pd.DataFrame) -> Numbers:
    """Return what sales are worth, compared with one of size 1, shape (A,)."""
    if "size" not in covariates:
        return np.ones(len(covariates))
    return covariates["size"].to_numpy(np.float64) ** _POWER


def even(low: float, high: float = 1.0) -> Distribution:
    """Return the even distribution between two numbers."""
    return Distribution(np.array([0.0, 1.0]), np.array([low, high]))


def frame(bids: Numbers, names: NDArray[np.int64], **columns: Numbers) -> pd.DataFrame:
    """Return a row for each bid.

    Args:
        bids: Bids, nan where a bidder did not bid, shape (A, N).
        names: Number of the bidder of each, shape (A, N).
        columns: Numbers of sales by their names, each of shape (A,).
    """
    sale, place = np.nonzero(~np.isnan(bids))
    shared = {name: values[sale] for name, values in columns.items()}
    auctions = [f"A{number:05d}" for number in sale]
    who = [f"bidder {number}" for number in names[sale, place]]
    return pd.DataFrame({"auction": auctions, "bidder": who, "bid": bids[sale, place], **shared})


def _alike(sales: int, low: float, sigma: float, rng: np.random.Generator) -> Numbers:
    """Return equilibrium bids of three bidders, (sales, 3)."""
    values = low + (1.0 - low) * rng.random((sales, 3))
    levels = np.exp(sigma * rng.standard_normal(sales))
    return np.asarray(levels[:, None] * (values - (values - low) / 3.0))


def _names(sales: int, bidders: int) -> NDArray[np.int64]:
    return np.tile(np.arange(1, bidders + 1), (sales, 1))


def draw_alike(
    sales: int, rng: np.random.Generator, low: float = 0.5, sigma: float = 0.0
) -> pd.DataFrame:
    """Draw sales to three bidders who are alike, with levels that the log does not show."""
    return frame(_alike(sales, low, sigma, rng), _names(sales, 3))


def draw_covariate(sales: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw sales with levels, whose values also rise with a size; its mean logarithm is 0."""
    sizes = np.exp(rng.permutation(stats.norm.ppf((np.arange(sales) + 0.5) / sales)))
    bids = sizes[:, None] ** _POWER * _alike(sales, 0.5, 0.3, rng)
    return frame(bids, _names(sales, 3), size=sizes)


def draw_reserve(sales: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw sales to four potential bidders who know the reserve; two or more of them reach it.

    Bids are the equilibrium of bidders who do not know how many others came.
    """
    values = np.empty((0, 4))
    while len(values) < sales:
        drawn = rng.random((2 * sales, 4))
        values = np.vstack([values, drawn[(drawn >= RESERVE).sum(axis=1) >= 2]])
    values = values[:sales]
    bids = equilibria.first_price_bid(values.clip(RESERVE), 4, RESERVE)
    bids = np.where(values >= RESERVE, bids, np.nan)
    return frame(bids, _names(sales, 4), reserve=np.full(sales, RESERVE))


def draw_jumps(sales: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw ascending sales in which bidders raise by more than they need."""
    bids = jump_bids(rng.random((sales, 3)), INCREMENT, _JUMP, rng)
    return frame(bids, _names(sales, 3))


def draw_rounded(sales: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw sales whose bids are rounded to the nearest tenth, and are one tenth at least."""
    bids = np.round(_alike(sales, 0.0, 0.0, rng) / STEP) * STEP
    return frame(np.maximum(bids, STEP), _names(sales, 3))


def draw_entry(sales: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw sales to two to four of four bidders, more of them if the level is high."""
    log_level = rng.standard_normal(sales)
    counts = 2 + rng.binomial(2, stats.norm.cdf(log_level))
    values = 0.5 + 0.5 * rng.random((sales, 4))
    bids = values - (values - 0.5) / counts[:, None]
    bids[np.arange(4) >= counts[:, None]] = np.nan
    names = rng.permuted(_names(sales, 4), axis=1)
    return frame(_entry_level(log_level)[:, None] * bids, names)


def _entry_level(normal: Numbers) -> Numbers:
    """Return levels whose mean logarithm over the bids of all sales is 0."""
    shift = 1.0 / (3.0 * np.sqrt(np.pi))  # E[n z] / E[n], where E[n | z] = 2 + 2 Phi(z)
    return np.asarray(np.exp(_ENTRY * (normal - shift)))


def draw_asymmetric(sales: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw sales to two bidders, and to a third one whose values are 1.4 times as high."""
    curves, levels = _unequal(), rng.random((sales, 3))
    strong = curves.bids_of(1, _STRONGER * levels[:, 2:])
    return frame(np.hstack([curves.bids_of(0, levels[:, :2]), strong]), _names(sales, 3))


def draw_ring(sales: int, rng: np.random.Generator) -> pd.DataFrame:
    """Draw sales to a ring of three and an outsider, who is the last and knows of the ring.

    The member with the highest value bids as one bidder of that value would. The others bid less.
    """
    curves, values = _ring(), rng.random((sales, 4))
    chosen = values[:, :3].argmax(axis=1)
    serious = curves.bids_of(0, values[:, :3].max(axis=1))
    bids = serious[:, None] * rng.uniform(*_COVER, (sales, 4))
    bids[np.arange(sales), chosen] = serious
    bids[:, 3] = curves.bids_of(1, values[:, 3])
    return frame(bids, _names(sales, 4))


@cache
def _unequal() -> Curves:
    return two_groups(Group(2), Group(1, highest=_STRONGER))


@cache
def _ring() -> Curves:
    return two_groups(Group(1, power=3.0), Group(1))


def truth_of(
    values: Distribution, revenue: Revenue, highest: float = 1.0, in_force: float = 0.0
) -> Truth:
    """Return the truth of a kind of logs.

    Args:
        values: The distribution whose quartiles are asked for.
        revenue: Returns the expected revenue of a sale of size 1 at reserves in money.
        highest: The highest reserve, in money.
        in_force: The reserve in force.
    """
    reserves = np.linspace(0.0, highest, _STEPS)
    return Truth(values.quantile(_QUARTILES), reserves, revenue(reserves), in_force)


def _earned(bidders: list[Bidder]) -> Revenue:
    return lambda reserves: np.array([expected_revenue(bidders, each) for each in reserves])


@cache
def _table(low: float, bidders: int) -> tuple[Numbers, Numbers]:
    reserves = np.linspace(0.0, 1.0, _STEPS)
    return reserves, _earned(symmetric(even(low), bidders))(reserves)


def _over_levels(levels: Numbers, shares: dict[int, Numbers]) -> Revenue:
    """Return the revenue of one reserve over levels that the seller does not know.

    Args:
        levels: Equally likely levels, shape (L,).
        shares: Share of the sales of each level, by number of bidders, each of shape (L,).
    """

    def revenue(reserves: Numbers) -> Numbers:
        relative = reserves[:, None] / levels
        earned = [
            np.interp(relative, *_table(0.5, size), right=0.0) @ (levels * share)
            for size, share in shares.items()
        ]
        return np.asarray(np.sum(earned, axis=0) / len(levels))

    return revenue


def _normals() -> Numbers:
    return np.asarray(stats.norm.ppf((np.arange(_LEVELS) + 0.5) / _LEVELS))


@cache
def truth_of_alike(low: float = 0.5, sigma: float = 0.0) -> Truth:
    """Return the truth of three bidders who are alike."""
    if not sigma:
        return truth_of(even(low), _earned(symmetric(even(low), 3)))
    levels = np.exp(sigma * _normals())
    revenue = _over_levels(levels, {3: np.ones(_LEVELS)})
    return truth_of(even(low), revenue, float(levels.max()))


@cache
def truth_of_reserve() -> Truth:
    """Return the truth of a binding reserve: of all sales, also those with fewer than two bids."""
    return truth_of(even(RESERVE), _earned(symmetric(even(0.0), 4)), in_force=RESERVE)


@cache
def truth_of_entry() -> Truth:
    """Return the truth where more bidders come to sales of a high level."""
    normals = _normals()
    come = stats.norm.cdf(normals)
    shares = {2 + more: np.asarray(stats.binom.pmf(more, 2, come)) for more in range(3)}
    levels = _entry_level(normals)
    return truth_of(even(0.5), _over_levels(levels, shares), float(levels.max()))


@cache
def truth_of_asymmetric() -> Truth:
    """Return the truth of bidders of whom one is stronger; quartiles are those of all three."""
    weak, strong = even(0.0), even(0.0, _STRONGER)
    places = np.array([0.0, 1.0, _STRONGER])
    mixed = Distribution((2.0 * weak.up_to(places) + strong.up_to(places)) / 3.0, places)
    bidders = [Bidder(weak), Bidder(weak), Bidder(strong)]
    return truth_of(mixed, _earned(bidders), _STRONGER)


@cache
def truth_of_ring() -> Truth:
    """Return the truth of a ring of three of four (Graham & Marshall 1987)."""
    return truth_of(
        even(0.0),
        lambda reserves: np.array([equilibria.expected_revenue(4, each, 3) for each in reserves]),
    )


def _shared(sigma: float) -> Kind:
    return Kind(
        f"common part {sigma:g}",
        lambda sales, rng: draw_alike(sales, rng, sigma=sigma),
        lambda: truth_of_alike(sigma=sigma),
    )


KINDS: dict[str, Kind] = {
    "clean": Kind("clean, values .5 to 1", draw_alike, truth_of_alike),
    "clean_from_zero": Kind(
        "clean, values 0 to 1",
        lambda sales, rng: draw_alike(sales, rng, 0.0),
        lambda: truth_of_alike(0.0),
    ),
    "common_small": _shared(0.1),
    "common_middle": _shared(0.3),
    "common_large": _shared(0.6),
    "covariate": Kind(
        "covariate, common part 0.3", draw_covariate, lambda: truth_of_alike(sigma=0.3)
    ),
    "reserve": Kind("binding reserve", draw_reserve, truth_of_reserve),
    "jumps": Kind(
        "ascending, jump bids",
        draw_jumps,
        lambda: truth_of_alike(0.0),
        {"format": ASCENDING, "increment": INCREMENT},
    ),
    "rounded": Kind("rounded to 0.1", draw_rounded, lambda: truth_of_alike(0.0)),
    "entry": Kind("entry rises with level", draw_entry, truth_of_entry),
    "asymmetric": Kind("one stronger bidder", draw_asymmetric, truth_of_asymmetric),
    "ring": Kind("ring of 3 of 4", draw_ring, truth_of_ring),
}
"""The kinds by name, in the order of ``coverage_settings.KINDS``."""
