"""Q-learners who come to collude: the experiment of Banchio & Skrzypacz 2022, there and here.

Each curve is played in the paper's game (``repeated_auction.py``) or in our market. Values are 1,
so that revenue is a share of the value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from tqdm import tqdm

from daedalus.evaluation.figures import FAINT, empty_panels, entitle, legend_below
from daedalus.lab.studies.repeated_auction import Floats, play_repeated, published
from daedalus.market.literals import AuctionType
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.parameters import StrategicParameters
from daedalus.market.population import BidderType, Population
from daedalus.market.seeds import market_seeds
from daedalus.market.strategic import StrategicMarket

PUBLISHED_FORMATS: tuple[AuctionType, ...] = ("first_price", "second_price")

ROUNDS = 400_000
"""Rounds of each run."""

POINTS = 100
"""Points of each curve; the last 5 % of them are the outcome of a run."""

PAPER, KNOWN = "the paper's game", "the paper's game, payoffs of all bids known"
MARKET, OURS = "our market, the paper's settings", "our market, our defaults"
"""What is played, in words: names of curves."""

_OUTCOME = POINTS // 20
_CHANGES = {
    "exploration of 0.1 that does not fall": ("exploration", "exploration_decay"),
    "8 factors from 0.3 to 1": ("factors", "lowest_factor", "highest_factor"),
    "optimistic first values": ("expected_surplus",),
    "state: whether it won the last round": ("recalls_win",),
    "discount of 0.5": ("discount",),
}
_VALUES = "values drawn anew from 0 to 1"

_PANELS = (PAPER, MARKET, OURS)
_COLOURS = {"first_price": "#d55e00", "second_price": "#0072b2"}
_GREY = "#8c8c8c"


def variants() -> dict[str, dict[str, Any]]:
    """Return what to change in the paper's learners, by name: each setting is our default."""
    default = BidderType()
    changes = {
        name: {each: getattr(default, each) for each in fields} for name, fields in _CHANGES.items()
    }
    every = {name: value for each in changes.values() for name, value in each.items()}
    values = {"value_low": default.value_low}
    both = {OURS: every, f"{OURS}, {_VALUES}": every | values}
    return {MARKET: {}, **changes, _VALUES: values, **both}


def in_the_paper(payoffs_known: bool, auction_type: str, runs: int, seed: int) -> Floats:
    """Return the revenue of the paper's learners in their game, shape (runs, POINTS)."""
    learners, known = published(payoffs_known), int(payoffs_known)
    played = [
        play_repeated(learners, auction_type, ROUNDS, POINTS, seed, known, run)[0]
        for run in range(runs)
    ]
    return np.array(played)


def in_our_market(
    population: Population,
    changes: Mapping[str, Any],
    auction_type: AuctionType,
    parameters: StrategicParameters,
    runs: int,
    seed: int,
) -> Floats:
    """Return the revenue of Q-learners in our market, without a reserve, shape (runs, POINTS).

    Args:
        population: The learners.
        changes: What to change in their types.
        auction_type: The format.
        parameters: Constants of the market.
        runs: Number of markets.
        seed: Seed of the run.
    """
    types = {name: replace(each, **changes) for name, each in population.types.items() if each.menu}
    market = StrategicMarket(replace(population, types=types), parameters)
    state = market.reset(market_seeds(seed, "tacit collusion", runs))
    mechanism = Mechanism(auction_type=auction_type, reserve_price=0.0)
    mechanisms, stretch = Mechanisms.repeat(mechanism, runs), ROUNDS // POINTS
    played = [
        market.play(state, mechanisms, stretch).field("revenue").mean(axis=1) for _ in range(POINTS)
    ]
    return np.array(played).T


def learning_curves(
    population: Population, parameters: StrategicParameters, runs: int, seed: int
) -> pd.DataFrame:
    """Return the revenue of Q-learners over time, in the paper's game and in our market.

    Args:
        population: The paper's learners.
        parameters: Constants of our market.
        runs: Number of runs of each curve.
        seed: Seed of the run.

    Returns:
        A row for each ``bidders`` (names of ``variants``, ``PAPER`` and ``KNOWN``),
        ``auction_type``, ``run`` and ``round`` (the last one of the stretch): ``revenue``.
    """
    curves = []
    names = [PAPER, KNOWN, *variants()]
    for name in tqdm(names, "Q-learners", leave=False, disable=None):
        for auction_type in PUBLISHED_FORMATS:
            if name in (PAPER, KNOWN):
                played = in_the_paper(name == KNOWN, auction_type, runs, seed)
            else:
                changes = variants()[name]
                played = in_our_market(population, changes, auction_type, parameters, runs, seed)
            curves.append(_long(played).assign(bidders=name, auction_type=auction_type))
    return pd.concat(curves, ignore_index=True)


def _long(played: Floats) -> pd.DataFrame:
    """Return curves of shape (runs, POINTS) as rows."""
    runs, rounds = np.arange(len(played)), np.arange(1, POINTS + 1) * (ROUNDS // POINTS)
    return pd.DataFrame(
        {
            "run": np.repeat(runs, POINTS),
            "round": np.tile(rounds, len(runs)),
            "revenue": played.ravel(),
        }
    )


def outcomes(curves: pd.DataFrame) -> pd.DataFrame:
    """Return where ``learning_curves`` end: means over the last 5 % of the rounds.

    Returns:
        A row for each ``bidders``: the mean of ``first_price`` and ``second_price`` over runs, and
        the medians, with ``_median`` behind them.
    """
    last = curves[curves["round"] > ROUNDS - _OUTCOME * (ROUNDS // POINTS)]
    runs = last.groupby(["bidders", "auction_type", "run"], sort=False)["revenue"].mean()
    over = runs.groupby(["bidders", "auction_type"], sort=False)
    means, medians = over.mean().unstack(), over.median().unstack()
    table = means.join(medians, rsuffix="_median")
    return table.loc[list(curves["bidders"].unique())].reset_index()


def collusion_curves(curves: pd.DataFrame) -> Figure:
    """Draw ``learning_curves``: revenue of Q-learners in first and second price over rounds."""
    figure, axes = empty_panels(1, len(_PANELS), (11.4, 4.1))
    for panel, name in zip(axes, _PANELS, strict=True):
        for kind in PUBLISHED_FORMATS:
            _band(panel, curves, name, kind, _COLOURS[kind], kind.replace("_", " "))
        panel.set_title(name, loc="left")
        panel.set(xlim=(0, curves["round"].max() / 1000), ylim=(0, 1.02), xlabel="thousand rounds")
    _band(axes[0], curves, KNOWN, "first_price", _GREY, "first price, payoffs of all bids known")
    axes[0].set_ylabel("revenue, share of the value")
    legend_below(figure, axes[0], 3)
    runs = curves["run"].nunique()
    reading = (
        f"line: median of {runs} runs · band: quartiles · two bidders with the value 1, no reserve"
    )
    entitle(
        figure,
        "Q-learners collude in first price with the paper's settings, not with ours",
        reading,
    )
    return figure


def _band(
    axes: Axes, curves: pd.DataFrame, bidders: str, auction_type: str, colour: str, label: str
) -> None:
    """Draw the median and the quartiles over runs."""
    chosen = curves[(curves["bidders"] == bidders) & (curves["auction_type"] == auction_type)]
    over = chosen.groupby("round")["revenue"]
    middle = over.median()
    rounds = middle.index / 1000
    band = over.quantile(0.25), over.quantile(0.75)
    axes.fill_between(rounds, *band, color=colour, alpha=0.18, lw=0)
    axes.plot(rounds, middle, color=colour, lw=1.8, label=label)
    axes.tick_params(colors=FAINT)
