"""The population of the strategic market: types of bidders in given shares."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

from daedalus.checks import Checked, at_least, below_one, bounded, one_of, within
from daedalus.market.literals import Learner, Strategy
from daedalus.market.ranges import SIZES, TRAITS, Ranges
from daedalus.market.value_distribution import ValueDistribution

STRATEGIES = ("opt_out", "shade", "withdraw", "collude", "shill")
LEARNERS = ("gradient", "hedge", "q")
MAX_BIDDERS = 64
MAX_UNITS = 5
MAX_FACTORS = 32
RIVALS = (0.01, 100)
"""Least and greatest number of rivals that a bidder may expect at first."""


@dataclass
class BidderType(Checked):
    """Bidders that share a menu of strategies and their parameters.

    Bidders of a type without strategies bid their values and always enter.

    Attributes:
        share: Relative size of the type in the population.
        menu: Strategies of its bidders, from ``STRATEGIES``. ``opt_out``: stay out when entry does
            not pay. ``shade``: bid below their values in first price, and reduce demand in
            uniform-price sales. ``withdraw``: walk away from a win that is worth less than the
            outside option. ``collude``: form a ring with the bidders of this type. ``shill``: also
            bid under a false name.
        value_low: The lowest value, at least 0.
        value_high: The highest, above ``value_low``, at most 1.
        values: Distribution of values between these two; None is uniform.
        demand: Units that a bidder can use, 1 or 2. The second is worth the lower of two draws.
        outside_option: Surplus that a unit from elsewhere would give, for ``withdraw``.
        budget: The most that a bidder can pay in an episode, in units of value; None is no limit.
        expected_surplus: Surplus that a bidder expects at first from a round that it enters.
        rivals: Number of rivals whose values a bidder at first expects to compete with. None is
            all others of its episode: in first price it then bids the equilibrium, if they are all
            like it. Without ``values`` this holds only if ``value_low`` is 0: the rule for even
            values takes F(v) = v. A mixture of one part, [1, 0, 1], gives the same values and the
            equilibrium.
        learning_rate: Weight of a round in what a bidder learns about bids, if it sees all bids;
            0 if it does not learn. Hedge takes ``hedge_rate`` for its factors instead.
        rate_spread: Spread s of the learning rate among the bidders, from 1 (none) to 100. Each
            bidder's rate is multiplied by a draw, log-uniform from 1/s to s, and is at most 1.
        rivals_spread: The same spread for ``rivals``, which stays from 0.01 to 100.
        efficient_ring: Whether the members with the highest values lead the ring. Otherwise the
            leaders are drawn by lot.
        discretion: Share of the collusion screens' power that the ring evades.
        learner: How the bidders learn to shade, one of ``LEARNERS``. ``gradient`` fits the
            strength of the rivals. ``hedge`` weighs factors. ``q`` learns factors and entry.
        factors: Number of factors, evenly spaced, by which a bidder that learns by Hedge or
            Q-learning may multiply its values.
        lowest_factor: The lowest of these factors.
        highest_factor: The highest, above ``lowest_factor``, at most 1.
        hedge_rate: Rate of the multiplicative weights, per unit of payoff in value.
        hedge_share: Share of all weight that is spread evenly after each update.
        exploration: Probability that a Q-learner tries any action; its step is ``learning_rate``.
        exploration_decay: Rate d at which this probability falls: after t rounds of the market it
            is multiplied by exp(-d t).
        discount: Weight of the next round in the values of a Q-learner.
        recalls_win: Whether the state of a Q-learner is if it won the last round. Otherwise it has
            one state alone.
    """

    share: float = at_least(0, 1.0)
    menu: list[Strategy] = field(default_factory=list)
    value_low: float = 0.0
    value_high: float = 1.0
    values: ValueDistribution | None = None
    demand: int = bounded(2, (1, 2).__contains__, "give 1 or 2")
    outside_option: float = at_least(0, 0.0)
    budget: float | None = at_least(0, None)
    expected_surplus: float = at_least(0, 0.05)
    rivals: float | None = within(*RIVALS, 10.0)
    learning_rate: float = within(0, 1, 0.05)
    rate_spread: float = within(1, 100, 1.0)
    rivals_spread: float = within(1, 100, 1.0)
    efficient_ring: bool = True
    discretion: float = within(0, 1, 0.0)
    learner: Learner = one_of(LEARNERS, "gradient")
    factors: int = within(2, MAX_FACTORS, 8, "an integer")
    lowest_factor: float = below_one(0.3)
    highest_factor: float = within(0, 1, 1.0)
    hedge_rate: float = bounded(10.0, lambda rate: 0 < rate <= 100, "give a number in (0, 100]")
    hedge_share: float = within(0, 1, 0.005)
    exploration: float = within(0, 1, 0.1)
    exploration_decay: float = at_least(0, 0.0)
    discount: float = below_one(0.5)
    recalls_win: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = set(self.menu) - set(STRATEGIES)
        if unknown:
            raise ValueError(f"menu: {sorted(unknown)}; choose from {', '.join(STRATEGIES)}")
        if not 0.0 <= self.value_low < self.value_high <= 1.0:
            raise ValueError(
                f"value_low {self.value_low}, value_high {self.value_high}: "
                "give 0 <= value_low < value_high <= 1"
            )
        if self.highest_factor <= self.lowest_factor:
            raise ValueError(
                f"highest_factor: {self.highest_factor}; "
                f"give a number above lowest_factor, which is {self.lowest_factor}"
            )
        if self.learner != "gradient" and "shade" not in self.menu:
            raise ValueError(f"learner: {self.learner!r} learns to shade; add shade to the menu")


@dataclass
class Population(Checked):
    """The bidders of a strategic market, and how many units there are for them.

    Attributes:
        stage: Curriculum stage, 0 to 4; a label that a designer sees only if its prompt shows it.
        bidders: Number of bidders n, 2 to 64.
        types: Types by name.
        units: Units for sale in a round, 1 to 5.
        concentration: How similar the compositions of the episodes are. Each episode draws its
            shares from a Dirichlet distribution. Its parameters are the types' shares, scaled to
            this sum. None takes the shares as they are.
        ranges: What each episode draws for itself: its size, and traits of its types.

    Raises:
        ValueError: A number is out of range, or no type has a share.
    """

    stage: int = within(0, 4, 0, "an integer")
    bidders: int = within(2, MAX_BIDDERS, 8, "an integer")
    types: dict[str, BidderType] = field(default_factory=lambda: {"truthful": BidderType()})
    units: int = within(1, MAX_UNITS, 3, "an integer")
    concentration: float | None = bounded(
        None, lambda total: 0 < total < math.inf, "give a number above 0 or null"
    )
    ranges: Ranges = field(default_factory=Ranges)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not any(each.share > 0 for each in self.types.values()):
            raise ValueError("types: give at least one a share above 0")
        if self.ranges.varies:
            self._check_ranges()

    def _check_ranges(self) -> None:
        """Check both ends of all ranges: whatever an episode draws lies between them."""
        try:
            for end in (0, 1):
                replace(self, **self.ranges.at(SIZES, end), ranges=Ranges())
                for each in self.types.values():
                    replace(each, **self.ranges.at(TRAITS, end))
        except ValueError as error:
            raise ValueError(f"ranges: {error}") from None

    def seats_of_types(self) -> dict[str, int] | None:
        """Return the number of bidders of each type, or None if it differs between episodes."""
        if self.concentration is not None or self.ranges.bidders:
            return None
        total = sum(each.share for each in self.types.values())
        due = {name: self.bidders * each.share / total for name, each in self.types.items()}
        seats = {name: math.floor(exact + 1e-9) for name, exact in due.items()}
        by_remainder = sorted(due, key=lambda name: round(seats[name] - due[name], 9))
        for name in by_remainder[: self.bidders - sum(seats.values())]:
            seats[name] += 1
        return seats

    def check_rings(self) -> None:
        """Refuse a ring that has fewer than two members in every episode: it never colludes.

        Raises:
            ValueError: There is such a ring.
        """
        for name, members in (self.seats_of_types() or {}).items():
            each = self.types[name]
            if each.share > 0 and "collude" in each.menu and members < 2:
                raise ValueError(
                    f"types.{name}: its share gives {members} of {self.bidders} bidders, and a "
                    "ring needs two; give it a larger share, or take collude from its menu"
                )

    def check_players(self, players: Mapping[str, object]) -> None:
        """Refuse a player none of whose types has a bidder in any episode: nobody would ask it.

        Raises:
            ValueError: There is such a player.
        """
        seats = self.seats_of_types()
        if seats is None:
            return
        asked = [player for name, player in players.items() if seats[name]]
        for name, player in players.items():
            if all(player is not each for each in asked):
                raise ValueError(
                    f"players.{name}: its type has none of {self.bidders} bidders; give the type a "
                    "larger share, or leave the player out"
                )

    @property
    def most_bidders(self) -> int:
        """Return the largest number of bidders that an episode may have."""
        return self.ranges.bidders[1] if self.ranges.bidders else self.bidders

    def of_size(self, bidders: int) -> Self:
        """Return the same population with this number of bidders in every episode."""
        return replace(self, bidders=bidders, ranges=replace(self.ranges, bidders=None))

    def fixed(self, types: dict[str, BidderType], bidders: int, units: int) -> Self:
        """Return a population of these types, with their shares, that draws nothing."""
        changes: dict[str, Any] = {"types": types, "bidders": bidders, "units": units}
        return replace(self, **changes, concentration=None, ranges=Ranges())
