"""Certificates of one sale: is truth a best reply, and what do lies, false names and rings gain?

Bidders bid their values, which are independent. A deviation is measured against this. What only
repetition or the market's constants give rise to is left out, see ``LEFT_OUT``. Money is in units
of value.

- **Interim regret**: the most that a bidder gains by other bids, knowing its own values alone.
- **Ex-post regret**: the same if it knew all bids; the regret of Duetting et al. (2019). At equal
  bids it is the limit of bids that are just above.
- **False-name gain**: what it gains by bids under several names. It is 0 by theorem, since values
  fall from unit to unit and a bidder wants two at most (Yokoo et al. 2004). It is not measured.
- **Ring's gain**: what its members gain together, if they bid as one against truthful outsiders.
  They choose bids and the name of each bid, pass units to each other, and know no outsider's value.

A truthful bidder loses nothing in any sale, and the auctioneer pays nothing, since nobody pays more
than its bids or less than 0. So neither is measured. ``second_price`` is a uniform price at the
highest losing bid if several units are sold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from daedalus.checks import CannotRunError
from daedalus.lab.theory import sales
from daedalus.lab.theory.deviations import Contest
from daedalus.lab.theory.distributions import Distribution, Numbers
from daedalus.lab.theory.ex_post import mean_regret, worst_regret
from daedalus.lab.theory.formats import require_format
from daedalus.lab.theory.sales import Bidder
from daedalus.market.mechanism import Mechanism
from daedalus.market.population import BidderType, Population
from daedalus.market.seeds import generator
from daedalus.market.value_distribution import ValueDistribution

LEFT_OUT = (
    "left out: fines, secret reserves (bidders know the reserve), entry and its cost, learning, "
    "budgets, outside options and units that lose their value"
)
"""What a certificate of one sale does not count."""

UNIFORM_PRICE = "second_price: a uniform price, the highest losing bid, as several units are sold"
"""The footnote of tables that name the format."""

DRAWS = 20_000
"""Sales that are drawn for each certificate."""

_RING = 2


class Group(NamedTuple):
    """The bidders of one type.

    Attributes:
        name: Name of the type.
        bidder: Any of them.
        size: Their number.
        colludes: Whether they form a ring.
    """

    name: str
    bidder: Bidder
    size: int
    colludes: bool = False


def groups_of(population: Population) -> list[Group]:
    """Return the bidders of a population, those of each type together.

    Raises:
        CannotRunError: Bidders differ between episodes, or a type's values have atoms.
    """
    seats = population.seats_of_types()
    if seats is None or population.ranges.varies:
        raise CannotRunError(
            "population: its episodes draw their bidders, and a certificate is for the same ones "
            "in each sale; set population.strategic.concentration=null and leave out its ranges, "
            "or choose such a population, as population=honest"
        )
    found = []
    for name, count in seats.items():
        each = population.types[name]
        if count > 0:
            bidder = Bidder(_values_of(name, each), min(each.demand, population.units))
            found.append(Group(name, bidder, count, "collude" in each.menu))
    return found


def _values_of(name: str, each: BidderType) -> Distribution:
    shape = each.values or ValueDistribution()
    values = Distribution.of(shape.knots(), each.value_low, each.value_high)
    if (np.diff(values.places) == 0.0).any():
        raise CannotRunError(
            f"types.{name}.values: quantiles at one place make values tie; spread them a little"
        )
    return values


@dataclass(frozen=True)
class Certificate:
    """The certificate of a mechanism for the bidders of a sale.

    All money is of all units of a sale together, in units of value. A unit is worth 1 at most.

    Attributes:
        sale: ``revenue`` of truthful bids; ``optimum``, the revenue of the best mechanism (Myerson
            1981), NaN if someone wants two units; and ``welfare``, value delivered over the
            highest.
        types: A row of numbers for each type of bidders, see ``certify``.
    """

    sale: dict[str, float]
    types: list[dict[str, float | str]]


def certify(mechanism: Mechanism, groups: Sequence[Group], units: int, seed: int) -> Certificate:
    """Return the certificate of a mechanism.

    Regrets and gains are of all units that a bidder wants in one sale, in units of value. So they
    are at most its demand, 2, though no value is above 1.

    The row of a type has its name ``type`` and number of ``bidders``; ``interim_regret`` of one of
    them in the mean over its values, the largest, ``worst_interim_regret``, and ``interim_error``,
    which bounds what bids that were not tried may add; the mean ``ex_post_regret`` with its
    ``ex_post_error``, which is two standard errors, or 0 if it is exact; the supremum
    ``worst_ex_post_regret``, in uniform-price sales to unlike bidders an upper bound; and ``ring``,
    the number of members, with their ``ring_gain``, NaN for a lone bidder.

    Args:
        mechanism: Its format and reserve count.
        groups: The bidders.
        units: Supply K.
        seed: Seed of the sales that are drawn.

    Raises:
        CannotRunError: The theory of the format is not known.
    """
    require_format(mechanism.auction_type)
    bids = draw_values(groups, DRAWS, generator(seed, "theory/certificates"))
    rows: list[dict[str, float | str]] = []
    utilities, first = 0.0, 0
    for group in groups:
        row, utility = _row(mechanism, groups, group, units, bids, first)
        rows.append(row)
        utilities += group.size * utility
        first += group.size
    bidders = [group.bidder for group in groups for _ in range(group.size)]
    welfare = sales.expected_welfare(bidders, mechanism.reserve_price, units)
    optimum = np.nan
    if all(each.demand == 1 for each in bidders):
        optimum = sales.optimal_revenue([each.values for each in bidders], units)
    sale = {"revenue": welfare - utilities, "optimum": optimum}
    sale |= {"welfare": welfare / sales.expected_welfare(bidders, 0.0, units)}
    return Certificate(sale, rows)


def truthful_regret(
    mechanism: Mechanism, groups: Sequence[Group], units: int, bids: Numbers
) -> float:
    """Return the mean ex-post regret of a bidder under a mechanism.

    Args:
        mechanism: Its format and reserve count.
        groups: The bidders.
        units: Supply K.
        bids: Truthful bids in S sales, of ``draw_values``, shape (S, n, 2). They count only where
            bidders want two units.

    Raises:
        CannotRunError: The theory of the format is not known.
    """
    total, first = 0.0, 0
    for group in groups:
        contest = _contest(mechanism, groups, group, 1, units)
        total += group.size * mean_regret(contest, group.bidder, bids, first)[0]
        first += group.size
    return total / first


def _row(
    mechanism: Mechanism,
    groups: Sequence[Group],
    group: Group,
    units: int,
    bids: Numbers,
    first: int,
) -> tuple[dict[str, float | str], float]:
    """Return the row of a type, and the truthful surplus of one of its bidders."""
    contest = _contest(mechanism, groups, group, 1, units)
    bidder = group.bidder
    alone = contest.gain([bidder], bidder.demand)
    row: dict[str, float | str] = {"type": group.name, "bidders": group.size}
    row |= {"interim_regret": alone.best - alone.truthful, "worst_interim_regret": alone.worst}
    row["interim_error"] = alone.error
    row["ex_post_regret"], row["ex_post_error"] = mean_regret(contest, bidder, bids, first)
    row["worst_ex_post_regret"] = worst_regret(contest, bidder)
    ring = group.size if group.colludes else min(_RING, group.size)
    row["ring"], row["ring_gain"] = ring, np.nan
    if ring > 1:
        against = _contest(mechanism, groups, group, ring, units)
        wanted = min(ring * bidder.demand, units)
        together = against.gain([bidder] * ring, wanted).best
        row["ring_gain"] = together - ring * alone.truthful
    return row, alone.truthful


def _contest(
    mechanism: Mechanism, groups: Sequence[Group], group: Group, members: int, units: int
) -> Contest:
    """Return the sale as seen by some members of a group."""
    rivals = [
        each.bidder for each in groups for _ in range(each.size - (members if each is group else 0))
    ]
    reserve, demand = mechanism.reserve_price, group.bidder.demand
    return Contest(mechanism.auction_type, reserve, units, rivals, demand)


def draw_values(groups: Sequence[Group], draws: int, rng: np.random.Generator) -> Numbers:
    """Return the values of all bidders for both units, the higher first, shape (S, n, 2)."""
    found = []
    for group in groups:
        values = group.bidder.values.quantile(rng.random((draws, group.size, 2)))
        values[:, :, group.bidder.demand :] = 0.0
        found.append(np.sort(values, axis=2)[:, :, ::-1])
    return np.concatenate(found, axis=1)
