"""Populations whose highest revenue auction theory knows: what share of it designers reach."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from daedalus.checks import CannotRunError
from daedalus.design.env import DesignEnv, Designer
from daedalus.evaluation.basis import COLUMN
from daedalus.evaluation.episodes import compare, episode_means
from daedalus.evaluation.figures import FAINT, INK, empty_panels, entitle, interval_dots, palette
from daedalus.evaluation.readable import readable
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.evaluation.statistics import mean_estimate
from daedalus.lab.studies.certificates import chosen_mechanisms
from daedalus.lab.theory.certificates import groups_of
from daedalus.lab.theory.first_price import first_price_equilibrium
from daedalus.lab.theory.formats import FORMATS_WITH_THEORY, pays_own_bid
from daedalus.lab.theory.hindsight import best_reply, record
from daedalus.lab.theory.sales import Bidder, best_reserve, expected_revenue, optimal_revenue
from daedalus.market.interface import types_of_bidders
from daedalus.market.mechanism import Mechanism
from daedalus.market.population import Population
from daedalus.market.strategic import StrategicMarket

ORACLE = "oracle"
"""Name of the designer that sets the reserve that theory tells."""

MOST_UNUSED = 0.1
"""Least unused reply, as a share of a bidder's surplus, at which play is no equilibrium."""

MOST_MECHANISMS = 8
"""The most mechanisms of a designer under which the unused reply is measured."""

RESERVE = "reserve_price"
"""Column of a training history with the median reserve of the answers; with ``_low`` and ``_high``
behind it, its first and last decile."""

_MARKETS, _STEP = 40, 0.05
_UNIFORM = "optimum_uniform_"
_BESIDE: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False}


class Setting(NamedTuple):
    """How a paper names a population.

    Attributes:
        name: Its bidders and values, in the paper's unit.
        scale: How many of the paper's units a value of 1 has here.
        optimum: The highest revenue in the paper's unit, to the digits of its source.
        source: Where the setting comes from.
    """

    name: str
    scale: float
    optimum: float
    source: str


_MYERSON_NET = "MyersonNet, Duetting et al. 2019"
SETTINGS = {
    "optimum_uniform_1": Setting("1 bidder, U[0, 1]", 1.0, 0.25, "Myerson 1981"),
    "optimum_uniform_2": Setting("2 bidders, U[0, 1]", 1.0, 5 / 12, "Myerson 1981"),
    "optimum_uniform_3": Setting("3 bidders, U[0, 1]", 1.0, 0.5313, _MYERSON_NET),
    "optimum_uniform_5": Setting("5 bidders, U[0, 1]", 1.0, 0.671875, "Myerson 1981"),
    "optimum_uniform_10": Setting("10 bidders, U[0, 1]", 1.0, 0.8182706, "Myerson 1981"),
    "optimum_exponential": Setting("3 bidders, exponential of mean 3", 30.0, 2.7514, _MYERSON_NET),
    "optimum_asymmetric": Setting("5 bidders, U[0, i]", 5.0, 2.2976, _MYERSON_NET),
    "optimum_irregular": Setting(
        "3 bidders, U[0, 3] with 3/4, U[3, 8] with 1/4", 8.0, 2.3749, _MYERSON_NET
    ),
}
"""The populations as papers name them. Exponential values are cut off at ten means."""


@dataclass(frozen=True)
class Optimum:
    """What theory says of the revenue of one sale to bidders for one unit each.

    Attributes:
        revenue: The highest revenue of any mechanism (Myerson 1981), in units of value.
        plain: Revenue of a second-price sale without a reserve.
        reserve: The best reserve of a second-price sale.
        reached: Its revenue.
    """

    revenue: float
    plain: float
    reserve: float
    reached: float

    @classmethod
    def of(cls, population: Population) -> Self:
        """Return the optimum of a population.

        Raises:
            CannotRunError: Its episodes differ, or a bidder may want two units.
        """
        bidders = _bidders(population)
        reserve = best_reserve(bidders, population.units)
        return cls(
            optimal_revenue([each.values for each in bidders], population.units),
            expected_revenue(bidders, 0.0, population.units),
            reserve,
            expected_revenue(bidders, reserve, population.units),
        )

    @property
    def oracle(self) -> Mechanism:
        """Return the second-price sale with the best reserve in hundredths, which is told."""
        return Mechanism(reserve_price=round(self.reserve, 2), reveal_reserve=True)


def _bidders(population: Population) -> list[Bidder]:
    """Return the bidders of every episode."""
    groups = groups_of(population)
    for each in groups:
        if each.bidder.demand > 1:
            raise CannotRunError(
                f"population: type {each.name} wants two units, and theory knows no optimum for "
                "it; set its demand to 1"
            )
    return [each.bidder for each in groups for _ in range(each.size)]


def shares_of_optimum(
    env: DesignEnv, designers: Mapping[str, Designer], settings: EvaluationSettings, seed: int
) -> pd.DataFrame:
    """Let designers play a population, and divide their revenue by the highest possible.

    No mechanism takes more than the optimum in an equilibrium. Elsewhere one may, and a quotient
    of the two is then no share. So there is none where bidders leave ``MOST_UNUSED`` or more
    unused, and an estimate above 1 elsewhere is 1.

    Args:
        env: The market.
        designers: Designers by the name that tables show.
        settings: Number of episodes, and confidence of the intervals.
        seed: Seed of the run.

    Returns:
        A row for each designer: ``designer``, ``bidders``, ``optimum`` and ``revenue`` at the
        bidders' play with its interval over episodes (units of value in a round);
        ``equilibrium_share``, the share of the optimum at equilibrium play, NaN if theory does not
        know it; ``played_share``, the share at the bidders' play with its interval, NaN if bidders
        do not play an equilibrium; ``unused_reply``, what their best reply adds, as a share of
        what their play earns, for the bidder who would gain most; ``unused_reply_share``, the share
        of steps whose mechanisms it was measured under; ``valid`` answers, the mean ``reserve``
        that it sets, and ``best_reserve``.
    """
    assert isinstance(env.market, StrategicMarket) and not env.market.players
    population = types_of_bidders(env.market)
    optimum, bidders = Optimum.of(population), _bidders(population)
    steps = compare(env, designers, settings.episodes, seed)
    rows = []
    for name, own in steps.groupby("designer", sort=False):
        means = episode_means(own.fillna({"revenue": 0.0}))  # a malformed answer sells nothing
        revenue = means["revenue"].to_numpy()
        unused, measured = _unused_reply(env.market, own, seed)
        expected = _equilibrium_revenue(own, bidders, population.units)
        rows.append(
            {"designer": name, "bidders": population.bidders, "optimum": optimum.revenue}
            | mean_estimate("revenue", revenue, settings.confidence, "episode")
            | {"equilibrium_share": expected / optimum.revenue}
            | _played_share(revenue / optimum.revenue, unused, settings.confidence)
            | {"unused_reply": unused, "unused_reply_share": measured}
            | {"valid": means["valid"].mean()}
            | {"reserve": own["reserve_price"].mean(), "best_reserve": optimum.reserve}
        )
    return pd.DataFrame(rows)


def _played_share(
    shares: NDArray[np.float64], unused: float, confidence: float
) -> dict[str, float | str]:
    found = mean_estimate("played_share", shares, confidence, "episode")
    if unused >= MOST_UNUSED:
        return {name: np.nan for name in found}
    return {
        name: min(each, 1.0) if isinstance(each, float) else each for name, each in found.items()
    }


def _unused_reply(market: StrategicMarket, steps: pd.DataFrame, seed: int) -> tuple[float, float]:
    """Return what the best reply adds to the surplus of the bidder who would gain most.

    It is measured under the ``MOST_MECHANISMS`` most frequent mechanisms, each alone in a market in
    which bidders have learnt for long. Beside it stands the share of steps with these mechanisms.
    Both are 0 if no mechanism is valid.
    """
    if not steps["valid"].any():
        return 0.0, 0.0
    chosen = chosen_mechanisms(steps)[:MOST_MECHANISMS]
    measured = sum(each.own_share for each in chosen)
    groups = groups_of(market.population)
    seats = np.cumsum([0, *(group.size for group in groups)])
    total = np.zeros((len(groups), 2))  # gain and surplus
    for mechanism, share, _ in chosen:
        recorded = record(market, mechanism, _MARKETS, seed)
        for number, group in enumerate(groups):
            total[number] += share * np.array(
                best_reply(recorded, int(seats[number]), group.bidder.values)
            )
    gain, surplus = total[total[:, 0].argmax()]
    if gain == 0.0:
        return 0.0, measured
    return float(gain / surplus) if surplus > 0.0 else np.inf, measured


def _equilibrium_revenue(steps: pd.DataFrame, bidders: Sequence[Bidder], units: int) -> float:
    """Return the mean over a designer's steps; a malformed answer sells nothing."""
    valid = steps[steps["valid"]].round({"reserve_price": 2})
    counts = valid.groupby(["auction_type", "reserve_price"]).size()
    known = lru_cache(maxsize=None)(lambda reserve: first_price_equilibrium(bidders, reserve))

    def revenue(kind: str, reserve: float) -> float:
        if kind not in FORMATS_WITH_THEORY:
            return np.nan
        if not pays_own_bid(kind) or _alike(bidders):
            return expected_revenue(bidders, reserve, units)
        if units > 1:
            return np.nan
        below = np.floor(reserve / _STEP) * _STEP
        ends = [below, below + _STEP]
        return float(np.interp(reserve, ends, [known(end).revenue for end in ends]))

    total = sum(count * revenue(*sale) for sale, count in counts.items())  # type: ignore[misc]  # a pair
    return float(total / len(steps))


def _alike(bidders: Sequence[Bidder]) -> bool:
    """Return whether all values have one distribution: then formats are revenue equivalent."""
    first = bidders[0].values
    return all(
        np.array_equal(each.values.places, first.places)
        and np.array_equal(each.values.levels, first.levels)
        for each in bidders
    )


def theory_table(populations: Mapping[str, Population]) -> pd.DataFrame:
    """Return what theory says of each population.

    Returns:
        A row for each: ``population``, ``optimum``, ``second_price`` (without a reserve),
        ``best_reserve``, ``with_reserve`` (revenue at it) and ``reachable``, its share of the
        optimum; and for those of ``SETTINGS`` the ``setting`` as its ``source`` names it, and
        ``optimum_in_its_unit``.
    """
    rows = []
    for name, population in populations.items():
        each = Optimum.of(population)
        rows.append(
            {"population": name, "optimum": each.revenue, "second_price": each.plain}
            | {"best_reserve": each.reserve, "with_reserve": each.reached}
            | {"reachable": each.reached / each.revenue}
            | _named(name, each.revenue)
        )
    return pd.DataFrame(rows)


def _named(population: str, optimum: float) -> dict[str, str | float]:
    if population not in SETTINGS:
        return {"setting": "", "optimum_in_its_unit": np.nan, "source": ""}
    known = SETTINGS[population]
    scaled = {"optimum_in_its_unit": known.scale * optimum}
    return {"setting": known.name} | scaled | {"source": known.source}


def optimum_shares(table: pd.DataFrame, theory: pd.DataFrame) -> Figure:
    """Draw the share of the highest revenue that each designer takes in each population.

    Args:
        table: The frames of ``shares_of_optimum`` with a column ``population``.
        theory: The frame of ``theory_table``.
    """
    populations, names = list(theory["population"]), list(table["designer"].unique())
    figure, (axes,) = empty_panels(1, 1, (7.6, 1.7 + 0.62 * len(populations)))
    for number, (name, colour) in enumerate(palette(names).items()):
        rows = table[table["designer"] == name].set_index("population").loc[populations]
        places = np.arange(len(populations)) + _offset(number, len(names))
        interval_dots(axes, rows, "played_share", places, ms=4, color=colour, label=readable(name))
        expected = rows["equilibrium_share"].where(rows["played_share"].isna())
        axes.plot(expected, places, "o", ms=4, mfc="white", color=colour)
    for place, reachable in enumerate(theory["reachable"]):
        axes.plot([reachable] * 2, [place - 0.4, place + 0.4], color=INK, lw=1.2)
    axes.set_yticks(range(len(populations)), [readable(each) for each in populations])
    axes.invert_yaxis()
    axes.set_xlabel("share of the highest revenue of any mechanism (Myerson 1981)")
    axes.legend(**_BESIDE)
    reading = "bar: best reserve of our formats · hollow: equilibrium, as bidders do not play it"
    reading += " · thin: intervals over episodes"
    texts = table[f"played_share{COLUMN}"]
    entitle(figure, "How much of the optimum a designer takes", reading, texts)
    return figure


def myerson_reserve(table: pd.DataFrame, histories: Mapping[str, pd.DataFrame]) -> Figure:
    """Draw reserves against the number of bidders, and against training steps.

    Args:
        table: The frames of ``shares_of_optimum`` with a column ``population``.
        histories: Training histories by designer. Those without ``RESERVE`` are left out.
    """
    figure, (left, right) = empty_panels(1, 2, (9.6, 3.9))
    rows = table[table["population"].str.startswith(_UNIFORM)].sort_values("bidders", kind="stable")
    names = list(rows["designer"].unique())
    colours = palette(names)
    for number, name in enumerate(names):
        own = rows[rows["designer"] == name]
        places = np.arange(len(own)) + _offset(number, len(names))
        left.plot(places, own["reserve"], "o", ms=4, color=colours[name], label=readable(name))
    sizes = [name.removeprefix(_UNIFORM) for name in rows["population"].unique()]
    left.set_xticks(range(len(sizes)), sizes)
    for name, history in histories.items():
        if f"{RESERVE}_high" in history:
            smooth = history.rolling(10, min_periods=1).mean()
            colour = colours.get(name, FAINT)
            right.plot(history["step"], smooth[RESERVE], color=colour, lw=1.2)
            low, high = smooth[f"{RESERVE}_low"], smooth[f"{RESERVE}_high"]
            faint = 0.2 / len(histories)
            right.fill_between(history["step"], low, high, color=colour, alpha=faint, lw=0)
    for panel in (left, right):
        panel.axhline(0.5, color=INK, lw=0.8, ls="--")
        panel.set(ylim=(0.0, 1.0), ylabel="reserve price")
    left.set_xlabel("bidders with values even from 0 to 1")
    right.set_xlabel("step of GRPO")
    right.legend(*left.get_legend_handles_labels(), **_BESIDE)
    reading = "dashed: theory, 0.50 for any number of bidders · band: 80 % of the answers"
    entitle(figure, "Myerson's reserve", reading)
    return figure


def _offset(number: int, count: int) -> float:
    """Return how far the dots of a designer lie from the middle, so that none hides another."""
    return (number - (count - 1) / 2.0) * 0.7 / max(count, 2)
