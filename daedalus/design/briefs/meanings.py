"""What a sentence of a brief may mean: aims, rules of the mechanism, floors, facts.

A meaning is a type and a value, such as ``reserve_told/no``. Most change one part of a ``Goal``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from daedalus.market.allowed import Allowed, Between
from daedalus.market.mechanism import AUCTION_TYPES, COALITION_POLICIES, FLAGS, RANGES

Bound = Literal["least", "most", "exact"]

PENALTIES = ("shill_penalty", "withdrawal_penalty", "collusion_penalty")

FORMATS_WITH_SENTENCES = ("first_price", "second_price", "vcg")
"""Formats that a sentence can demand or ban: those that the files of wordings have sentences for.

The market may have more. No brief names them, and a ban of one format lets all others through.
"""


@dataclass(frozen=True)
class Meaning:
    """One thing that a sentence may say.

    Attributes:
        aim: The term of the reward that matters most; empty if the sentence is no such aim.
        also: A term that counts too, but less.
        allowed: What fields of the mechanism may be, whatever the amount.
        bounded: The field that the sentence's amount bounds.
        bound: How it does.
        floor: The term whose mean may not be below the amount.
        population: The bidders that the sentence tells of: a population of conf/populations/briefs.
        settable: Whether settings of the market can express it.
        on_ring: Whether its rules hold only where the brief tells of a ring. Elsewhere ``bounded``
            is 0.
        amounts: Amounts that benchmark briefs draw.
        trained: Whether training briefs of the benchmark use its type.
    """

    aim: str = ""
    also: str = ""
    allowed: Mapping[str, Allowed] = field(default_factory=dict)
    bounded: str = ""
    bound: Bound = "least"
    floor: str = ""
    population: str = ""
    settable: bool = True
    on_ring: bool = False
    amounts: tuple[float, ...] = ()
    trained: bool = True

    @property
    def takes_amount(self) -> bool:
        """Return whether its sentence names an amount."""
        return bool(self.bounded or self.floor)

    @property
    def is_nothing(self) -> bool:
        """Return whether its sentence asks for nothing."""
        return self == Meaning()

    def range_of(self, amount: float) -> Between:
        """Return the range of the bounded field, where the sentence names an amount within it."""
        low, high = RANGES[self.bounded]
        if self.bound == "exact":
            return Between(amount, amount)
        return Between(amount, high) if self.bound == "least" else Between(low, amount)


_RESERVES = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
_CAPS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
_FINES = (0.5, 0.75, 1.0, 1.5, 2.0, 2.5)
_NO_SUSPICION = tuple(each for each in COALITION_POLICIES if each != "penalize_suspected")
_FINING = tuple(each for each in COALITION_POLICIES if each.startswith("penalize"))
_FINED = Between(0.1, RANGES["collusion_penalty"][1])


def _told(fact: str, flag: str, trained: bool = True) -> dict[str, Meaning]:
    return {
        f"{fact}_told/yes": Meaning(allowed={flag: (True,)}, trained=trained),
        f"{fact}_told/no": Meaning(allowed={flag: (False,)}, trained=trained),
    }


def _policy(*words: str) -> Meaning:
    return Meaning(allowed={"coalition_policy": words})


def _bound(name: str, bound: Bound, amounts: tuple[float, ...], **others: Any) -> Meaning:
    return Meaning(bounded=name, bound=bound, amounts=amounts, **others)


MEANINGS: dict[str, Meaning] = {
    **{
        f"aim/{term}": Meaning(aim=term)
        for term in ("revenue", "welfare", "consumer_surplus", "participation")
    },
    **{f"also/{term}": Meaning(also=term) for term in ("fairness", "competition")},
    **{
        f"payment/{each}": Meaning(allowed={"auction_type": (each,)})
        for each in FORMATS_WITH_SENTENCES
    },
    **{
        f"ban/{each}": Meaning(
            allowed={"auction_type": tuple(t for t in AUCTION_TYPES if t != each)}
        )
        for each in FORMATS_WITH_SENTENCES
    },
    "reserve_least/x": _bound("reserve_price", "least", _RESERVES),
    "reserve_most/x": _bound("reserve_price", "most", _CAPS),
    **_told("reserve", "reveal_reserve"),
    **_told("winner", "reveal_winner_identity"),
    **_told("price", "reveal_clearing_price"),
    **_told("bids", "reveal_competing_bids"),
    "shill_fine/least": _bound("shill_penalty", "least", _FINES),
    "shill_fine/none": Meaning(allowed={"shill_penalty": (0.0,)}),
    "ring_policy/no_suspicion": _policy(*_NO_SUSPICION),
    "ring_policy/declared": _policy("restrict"),
    "ring_policy/proof": Meaning(
        allowed={"coalition_policy": ("penalize_confirmed",), "collusion_penalty": _FINED}
    ),
    "ring_policy/tolerated": _policy("allow"),
    "floor/fairness": Meaning(floor="fairness", amounts=(0.4, 0.5, 0.55, 0.6)),
    "floor/participation": Meaning(floor="participation", amounts=(0.4, 0.5, 0.6, 0.7, 0.75)),
    **{
        f"fact/{each}": Meaning(population=f"briefs_{each}")
        for each in ("ring", "walkers", "budgets", "honest", "false_names")
    },
    **_told("statistics", "reveal_bid_distribution", trained=False),
    "withdrawal_fine/least": _bound("withdrawal_penalty", "least", _FINES, trained=False),
    "withdrawal_fine/most": _bound("withdrawal_penalty", "most", _FINES[:4], trained=False),
    "reserve_exact/x": _bound("reserve_price", "exact", _RESERVES, trained=False),
    "no_fines/all": Meaning(allowed=dict.fromkeys(PENALTIES, (0.0,)), trained=False),
    "nothing_told/all": Meaning(allowed=dict.fromkeys(FLAGS, (False,)), trained=False),
    "conditional/ring": _bound(
        "collusion_penalty",
        "least",
        _FINES,
        on_ring=True,
        allowed={"coalition_policy": _FINING},
        trained=False,
    ),
    "nothing/all": Meaning(),
    "other/all": Meaning(settable=False, trained=False),
}
"""All meanings by type and value. The last two ask for nothing, and for what cannot be set."""

NOTHING = "nothing/all"
OTHER = "other/all"
RING = "briefs_ring"
USUAL = "briefs_usual"


def kind(name: str) -> str:
    """Return the type of a meaning: that part of its name before the value."""
    return name.partition("/")[0]


TRAINED_KINDS = tuple(dict.fromkeys(kind(name) for name, each in MEANINGS.items() if each.trained))
"""Types of clauses in training briefs, and ``nothing``."""
