"""The population of the classic market: a seat plan."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from daedalus.checks import Checked, at_least, one_of, within
from daedalus.market.literals import BidderKind
from daedalus.market.population import MAX_BIDDERS
from daedalus.market.value_distribution import ValueDistribution

BIDDER_KINDS = ("truthful", "shader", "dropout", "colluder", "exploiter")


@dataclass
class BidderGroup(Checked):
    """Bidders of one kind that share their parameters.

    Attributes:
        kind: Strategy, one of ``BIDDER_KINDS``.
        seats: Seats of the group. In a colluder group the first seat has the first turn. The
            truthful group may leave this empty: it then takes all seats that remain.
        value_low: The lowest value, at least 0.
        value_high: The highest, above ``value_low``, at most 1.
        threshold: Dropouts only: accumulated disappointment after which the bidder leaves.
        budget: Exploiters only: the most that the bidder can spend in an episode, in units of
            value.
        values: Distribution of values between the lowest and the highest; None is uniform.
    """

    kind: BidderKind = one_of(BIDDER_KINDS, "truthful")
    seats: list[int] = field(default_factory=list)
    value_low: float = 0.3
    value_high: float = 0.9
    threshold: float = at_least(0, 0.0)
    budget: float = at_least(0, 0.0)
    values: ValueDistribution | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 <= self.value_low < self.value_high <= 1.0:
            raise ValueError(
                f"value_low {self.value_low}, value_high {self.value_high}: "
                "give 0 <= value_low < value_high <= 1"
            )


@dataclass
class SeatPlan(Checked):
    """The bidders of a classic market, which sells one unit a round.

    Attributes:
        stage: Curriculum stage, 0 to 4; a label that a designer sees only if its prompt shows it.
        bidders: Number of bidders n, 2 to 64.
        groups: Groups by name.

    Raises:
        ValueError: A number is out of range, a colluder group does not have two seats, another
            group that is not truthful has none, or a seat does not exist, belongs to two groups or
            is empty.
    """

    stage: int = within(0, 4, 0, "an integer")
    bidders: int = within(2, MAX_BIDDERS, 8, "an integer")
    groups: dict[str, BidderGroup] = field(default_factory=lambda: {"truthful": BidderGroup()})

    def __post_init__(self) -> None:
        super().__post_init__()
        self.seat_groups()
        for name, group in self.groups.items():
            if group.kind == "colluder" and len(group.seats) != 2:
                raise ValueError(f"groups.{name}.seats: {group.seats}; give colluders two seats")
            if group.kind != "truthful" and not group.seats:
                raise ValueError(
                    f"groups.{name}.seats: []; give a {group.kind} at least one seat, or leave the "
                    "group out"
                )

    def of_size(self, bidders: int) -> Self:
        """Return the same seats with this number of bidders.

        Raises:
            ValueError: A seat would not exist, or be empty.
        """
        return replace(self, bidders=bidders)

    def seat_groups(self) -> list[str]:
        """Return the name of the group in each seat, length n."""
        seats: list[str | None] = [None] * self.bidders
        for name, group in self.groups.items():
            for seat in group.seats:
                if not 0 <= seat < self.bidders:
                    raise ValueError(
                        f"groups.{name}.seats: seat {seat} does not exist; "
                        f"with bidders={self.bidders} seats run from 0 to {self.bidders - 1}"
                    )
                if seats[seat] is not None:
                    raise ValueError(f"seat {seat}: both {seats[seat]} and {name} have it")
                seats[seat] = name
        return [
            self._default_group(seat) if name is None else name for seat, name in enumerate(seats)
        ]

    def _default_group(self, seat: int) -> str:
        for name, group in self.groups.items():
            if group.kind == "truthful" and not group.seats:
                return name
        raise ValueError(f"seat {seat} is empty; add a truthful group without seats to fill it")

    def column(self, attribute: str) -> NDArray[np.float64]:
        """Return a numeric group attribute for every seat, shape (n,)."""
        values = [getattr(self.groups[name], attribute) for name in self.seat_groups()]
        return np.asarray(values, dtype=np.float64)

    def kinds(self) -> NDArray[np.int8]:
        """Return every seat's index into ``BIDDER_KINDS``, shape (n,)."""
        kinds = [BIDDER_KINDS.index(self.groups[name].kind) for name in self.seat_groups()]
        return np.asarray(kinds, dtype=np.int8)
