"""Populations whose highest revenue auction theory knows: what share of it designers reach."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import pandas as pd

from daedalus.checks import CannotRunError
from daedalus.env import DesignEnv, Designer
from daedalus.evaluation.episodes import compare, episode_means
from daedalus.evaluation.settings import EvaluationSettings
from daedalus.evaluation.statistics import mean_estimate
from daedalus.market.interface import types_of_bidders
from daedalus.market.mechanism import Mechanism
from daedalus.market.population import Population
from daedalus.theory.certificates import groups_of
from daedalus.theory.sales import Bidder, best_reserve, expected_revenue, optimal_revenue

ORACLE = "oracle"
"""Name of the designer that sets the reserve that theory tells."""


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

    Args:
        env: The market.
        designers: Designers by the name that tables show.
        settings: Number of episodes, and confidence of the intervals.
        seed: Seed of the run.

    Returns:
        A row for each designer: ``designer``, ``bidders``, ``optimum`` and ``revenue`` (units of
        value in a round), ``share`` of the optimum with its interval over episodes (``share_low``,
        ``share_high``, ``share_interval``), ``valid`` answers, the mean ``reserve`` that it sets,
        and ``best_reserve``.
    """
    population = types_of_bidders(env.market)
    optimum = Optimum.of(population)
    steps = compare(env, designers, settings.episodes, seed)
    reserves = steps.groupby("designer", sort=False)["reserve_price"].mean()
    rows = []
    for name, means in episode_means(steps).groupby("designer", sort=False):
        share = (means["revenue"].fillna(0.0) / optimum.revenue).to_numpy()
        rows.append(
            {"designer": name, "bidders": population.bidders, "optimum": optimum.revenue}
            | {"revenue": share.mean() * optimum.revenue}
            | mean_estimate("share", share, settings.confidence, "episode")
            | {"valid": means["valid"].mean(), "reserve": reserves[name]}
            | {"best_reserve": optimum.reserve}
        )
    return pd.DataFrame(rows)


def theory_table(populations: Mapping[str, Population]) -> pd.DataFrame:
    """Return what theory says of each population.

    Returns:
        A row for each: ``population``, ``optimum``, ``second_price`` (without a reserve),
        ``best_reserve``, ``with_reserve`` (revenue at it) and ``reachable``, its share of the
        optimum.
    """
    rows = []
    for name, population in populations.items():
        each = Optimum.of(population)
        rows.append(
            {"population": name, "optimum": each.revenue, "second_price": each.plain}
            | {"best_reserve": each.reserve, "with_reserve": each.reached}
            | {"reachable": each.reached / each.revenue}
        )
    return pd.DataFrame(rows)
