"""Mechanisms, the eleven settings that a designer chooses: a single one, or a batch as columns."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

AUCTION_TYPES = ("first_price", "second_price", "vcg")
COALITION_POLICIES = ("allow", "restrict", "penalize_suspected", "penalize_confirmed")

CHOICES: dict[str, tuple[str, ...]] = {
    "auction_type": AUCTION_TYPES,
    "coalition_policy": COALITION_POLICIES,
}
"""The allowed words of each categorical field, in the order of their integer codes."""

RANGES: dict[str, tuple[float, float]] = {
    "reserve_price": (0.0, 0.9),
    "shill_penalty": (0.0, 3.0),
    "withdrawal_penalty": (0.0, 3.0),
    "collusion_penalty": (0.0, 3.0),
}
"""The closed interval of each numeric field."""

FLAGS = (
    "reveal_reserve",
    "reveal_competing_bids",
    "reveal_winner_identity",
    "reveal_clearing_price",
    "reveal_bid_distribution",
)
"""The yes-or-no fields: the facts that bidders are told."""


_LONGEST_INTEGER = 10_000  # bits
_LONGEST_SHOWN = 500  # characters


class MechanismError(ValueError):
    """A mechanism breaks the schema. The message names the field, its value and allowed values."""

    def __init__(self, field: str, value: object, allowed: str) -> None:
        """Keep the parts of the message too, so that callers can write their own."""
        super().__init__(f"{field}: {shown(value)} is not allowed; {allowed}")
        self.field = field
        self.value = value
        self.allowed = allowed


def shown(value: object) -> str:
    """Return ``value`` as Python writes it, cut or described if it is too long or too deep."""
    if isinstance(value, int) and value.bit_length() > _LONGEST_INTEGER:
        return f"an integer of {value.bit_length()} bits"
    try:
        text = repr(value)
    except RecursionError:
        return f"a deeply nested {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


@dataclass
class Mechanism:
    """One mechanism.

    Attributes:
        auction_type: Auction format, which sets the price; one of ``AUCTION_TYPES``.
        reserve_price: Lowest bid that competes, in units of value, 0.0 to 0.9.
        reveal_reserve: Whether bidders are told the reserve.
        reveal_competing_bids: Whether bidders are told each other's bids.
        reveal_winner_identity: Whether bidders are told who won.
        reveal_clearing_price: Whether bidders are told the price.
        reveal_bid_distribution: Whether bidders are told summary statistics of the bids.
        shill_penalty: Fine for a detected bid under a false name, 0.0 to 3.0.
        withdrawal_penalty: Fine for a winner that walks away, 0.0 to 3.0.
        collusion_penalty: Fine for detected collusion, 0.0 to 3.0.
        coalition_policy: How rings are treated, one of ``COALITION_POLICIES``.

    Raises:
        MechanismError: A field has the wrong type, is not finite or lies outside its range.
    """

    auction_type: str = "second_price"
    reserve_price: float = 0.10
    reveal_reserve: bool = False
    reveal_competing_bids: bool = False
    reveal_winner_identity: bool = False
    reveal_clearing_price: bool = True
    reveal_bid_distribution: bool = False
    shill_penalty: float = 0.0
    withdrawal_penalty: float = 0.0
    collusion_penalty: float = 0.0
    coalition_policy: str = "allow"

    def __post_init__(self) -> None:
        for name in FIELDS:
            setattr(self, name, checked_field(name, getattr(self, name)))

    def to_dict(self) -> dict[str, Any]:
        """Return the eleven fields in schema order."""
        return {name: getattr(self, name) for name in FIELDS}


FIELDS: tuple[str, ...] = tuple(field.name for field in dataclasses.fields(Mechanism))
"""The eleven field names, in the order in which they are written."""


def checked_field(name: str, value: object) -> Any:
    """Return ``value`` as the field ``name`` stores it.

    Raises:
        MechanismError: The field does not exist, or the value is of the wrong type or out of range.
    """
    if name in CHOICES:
        if isinstance(value, str) and value in CHOICES[name]:
            return value
        raise MechanismError(name, value, f"choose one of {', '.join(CHOICES[name])}")
    if name in RANGES:
        return _checked_number(name, value)
    if name in FLAGS:
        if isinstance(value, bool | np.bool_):
            return bool(value)
        raise MechanismError(name, value, "write true or false")
    raise MechanismError(name, value, f"no such field; the fields are {', '.join(FIELDS)}")


def _checked_number(name: str, value: object) -> float:
    low, high = RANGES[name]
    allowed = f"give a number from {low} to {high}"
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | np.integer | np.floating
    ):
        raise MechanismError(name, value, allowed)
    if not low <= value <= high:  # also false for NaN
        raise MechanismError(name, value, allowed)
    return float(value)


def mechanism_from_mapping(data: Mapping[str, object]) -> Mechanism:
    """Build a mechanism from field names and values; absent fields take their defaults.

    Raises:
        MechanismError: A field is unknown, of the wrong type or out of range.
    """
    for name, value in data.items():
        checked_field(name, value)
    return Mechanism(**data)  # type: ignore[arg-type]  # checked


@dataclass
class Mechanisms:
    """A batch of B mechanisms as columns, each of shape (B,).

    Categorical fields hold the index into their tuple in ``CHOICES`` (int8), numeric fields are
    float64 and flags are bool.

    Attributes:
        malformed: Rows whose proposal could not be read, bool, shape (B,), by default none. Such a
            row holds a default mechanism that is never played, and its step scores 0.

    Raises:
        MechanismError: An entry of a column is out of range.
    """

    auction_type: NDArray[np.int8]
    reserve_price: NDArray[np.float64]
    reveal_reserve: NDArray[np.bool_]
    reveal_competing_bids: NDArray[np.bool_]
    reveal_winner_identity: NDArray[np.bool_]
    reveal_clearing_price: NDArray[np.bool_]
    reveal_bid_distribution: NDArray[np.bool_]
    shill_penalty: NDArray[np.float64]
    withdrawal_penalty: NDArray[np.float64]
    collusion_penalty: NDArray[np.float64]
    coalition_policy: NDArray[np.int8]
    malformed: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, np.bool_))

    def __post_init__(self) -> None:
        length = len(self.auction_type)
        if not np.size(self.malformed):
            self.malformed = np.zeros(length, np.bool_)
        if self.malformed.shape != (length,) or self.malformed.dtype != np.bool_:
            shape = (self.malformed.shape, self.malformed.dtype.name)
            raise MechanismError("malformed", shape, f"give booleans of shape ({length},)")
        for name in FIELDS:
            column = _checked_column(name, np.asarray(getattr(self, name)))
            if column.shape != (length,):
                raise MechanismError(name, column.shape, f"give a column of shape ({length},)")
            setattr(self, name, column)

    def __len__(self) -> int:
        """Return B."""
        return len(self.auction_type)

    def __getitem__(self, index: int) -> Mechanism:
        """Return row ``index`` as a single mechanism."""
        row = {name: getattr(self, name)[index].item() for name in FIELDS}
        for name, words in CHOICES.items():
            row[name] = words[row[name]]
        return Mechanism(**row)

    def take(self, rows: NDArray[np.integer[Any]]) -> Mechanisms:
        """Return the given rows, in that order, with repeats allowed."""
        taken = copy.copy(self)  # without the checks of ``checked``
        for name in (*FIELDS, "malformed"):
            setattr(taken, name, getattr(self, name)[rows])
        return taken

    def checked(self) -> Mechanisms:
        """Return an independent copy after a check of each entry.

        Raises:
            MechanismError: An entry was changed to a value out of range.
        """
        columns = {name: getattr(self, name).copy() for name in (*FIELDS, "malformed")}
        return Mechanisms(**columns)

    def replace(self, rows: NDArray[np.integer[Any]], others: Mechanisms) -> Mechanisms:
        """Return a copy in which the given rows are those of ``others``, in order."""
        changed = self.take(np.arange(len(self)))
        for name in (*FIELDS, "malformed"):
            getattr(changed, name)[rows] = getattr(others, name)
        return changed

    def rounded(self) -> Mechanisms:
        """Return the mechanisms as people write them: reserves to 0.01, penalties to 0.1."""
        near = self.take(np.arange(len(self)))
        for name in RANGES:
            decimals = 2 if name == "reserve_price" else 1
            setattr(near, name, getattr(self, name).round(decimals))
        return near

    @classmethod
    def stack(cls, mechanisms: Sequence[Mechanism | None]) -> Mechanisms:
        """Batch single mechanisms, in order; None becomes a malformed row."""
        malformed = np.array([each is None for each in mechanisms], np.bool_)
        filled = [Mechanism() if each is None else each for each in mechanisms]
        columns = {name: [getattr(each, name) for each in filled] for name in FIELDS}
        for name, words in CHOICES.items():
            columns[name] = [words.index(word) for word in columns[name]]
        arrays = {name: np.asarray(column) for name, column in columns.items()}
        return cls(**arrays, malformed=malformed)

    @classmethod
    def distinct(cls, mechanisms: Sequence[Mechanism]) -> Mechanisms:
        """Batch single mechanisms, ``rounded``; of equal ones only the last remains."""
        rounded = cls.stack(mechanisms).rounded()
        rows = [rounded[row] for row in range(len(rounded))]
        return cls.stack([row for number, row in enumerate(rows) if row not in rows[number + 1 :]])

    @classmethod
    def repeat(cls, mechanism: Mechanism, count: int) -> Mechanisms:
        """Return ``count`` copies of one mechanism."""
        return cls.stack([mechanism]).take(np.zeros(count, dtype=np.int64))


def _checked_column(name: str, column: NDArray[Any]) -> NDArray[Any]:
    if name in FLAGS:
        if column.dtype != np.bool_ and column.size:
            raise MechanismError(name, column.dtype.name, "give a column of booleans")
        return column.astype(np.bool_)
    low, high = RANGES[name] if name in RANGES else (0, len(CHOICES[name]) - 1)
    kind = "numbers" if name in RANGES else "integers"
    if column.size and column.dtype.kind not in "iuf":
        raise MechanismError(name, column.dtype.name, f"give a column of {kind}")
    bad = ~((column >= low) & (column <= high))
    if name in CHOICES:
        bad |= column != np.trunc(column)
    if bad.any():
        raise MechanismError(name, column[bad][0].item(), f"give {kind} from {low} to {high}")
    return column.astype(np.float64 if name in RANGES else np.int8)
