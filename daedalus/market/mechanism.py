"""Mechanisms, the eleven settings that a designer chooses: a single one, or a batch as columns."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from inspect import cleandoc
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daedalus.market.literals import AuctionType, CoalitionPolicy

AUCTION_TYPES = ("first_price", "second_price", "vcg")
COALITION_POLICIES = ("allow", "restrict", "penalize_suspected", "penalize_confirmed")

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


def _choice(words: tuple[str, ...], default: str, effect: str) -> Any:
    return field(default=default, metadata={"choices": words, "effect": effect})


def _amount(high: float, default: float, effect: str) -> Any:
    return field(default=default, metadata={"range": (0.0, high), "effect": effect})


def _flag(default: bool, effect: str) -> Any:
    return field(default=default, metadata={"effect": effect})


@dataclass
class Mechanism:
    """One mechanism: the eleven fields, each with its values, its default and its effect.

    The effects are for readers who know auctions but not this market. Flags say which facts bidders
    are told.

    Raises:
        MechanismError: A field has the wrong type, is not finite or lies outside its range.
    """

    auction_type: AuctionType = _choice(
        AUCTION_TYPES,
        "second_price",
        "how prices are set: in first_price a winner pays its own bid, in second_price the highest "
        "losing bid, in vcg the bids that it displaces",
    )
    reserve_price: float = _amount(
        0.9, 0.10, "lowest bid that competes, in units of value; values lie in 0 to 1"
    )
    reveal_reserve: bool = _flag(False, "bidders are told the reserve before they bid")
    reveal_competing_bids: bool = _flag(False, "bidders are told each other's bids after a round")
    reveal_winner_identity: bool = _flag(False, "bidders are told who won")
    reveal_clearing_price: bool = _flag(True, "bidders are told the price that was paid")
    reveal_bid_distribution: bool = _flag(False, "bidders are told summary statistics of the bids")
    shill_penalty: float = _amount(3.0, 0.0, "fine for a detected bid under a false name")
    withdrawal_penalty: float = _amount(
        3.0, 0.0, "fine for a winner who walks away from the purchase"
    )
    collusion_penalty: float = _amount(
        3.0, 0.0, "fine for detected collusion; takes a penalize_ coalition_policy"
    )
    coalition_policy: CoalitionPolicy = _choice(
        COALITION_POLICIES,
        "allow",
        "how rings of bidders are treated: allowed, restricted to declared ones, or fined on "
        "suspicion or only on proof",
    )

    def __post_init__(self) -> None:
        for name in FIELDS:
            setattr(self, name, checked_field(name, getattr(self, name)))

    def to_dict(self) -> dict[str, Any]:
        """Return the eleven fields in schema order."""
        return {name: getattr(self, name) for name in FIELDS}


_KNOWN = {each.name: each.metadata for each in dataclasses.fields(Mechanism)}

FIELDS: tuple[str, ...] = tuple(_KNOWN)
"""The eleven field names, in the order in which they are written."""

EFFECTS: dict[str, str] = {name: each["effect"] for name, each in _KNOWN.items()}
"""The effect of each field."""

CHOICES: dict[str, tuple[str, ...]] = {
    name: each["choices"] for name, each in _KNOWN.items() if "choices" in each
}
"""The allowed words of each categorical field, in the order of their integer codes."""

RANGES: dict[str, tuple[float, float]] = {
    name: each["range"] for name, each in _KNOWN.items() if "range" in each
}
"""The closed interval of each numeric field."""


_ALLOWED = {name: "; {:g} to {:g}".format(*limits) for name, limits in RANGES.items()}
_ALLOWED |= {name: f"; {', '.join(words)}" for name, words in CHOICES.items()}
Mechanism.__doc__ = "\n".join(
    [
        cleandoc(Mechanism.__doc__ or ""),
        "\nAttributes:",
        *(f"    {name}: {effect}{_ALLOWED.get(name, '')}." for name, effect in EFFECTS.items()),
    ]
)

FLAGS = tuple(name for name in FIELDS if name not in CHOICES and name not in RANGES)
"""The yes-or-no fields: the facts that bidders are told."""


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


def _type(name: str) -> type[np.generic]:
    return np.int8 if name in CHOICES else np.float64 if name in RANGES else np.bool_


_COLUMNS = (*FIELDS, "malformed")
_ROW = np.dtype([(name, _type(name)) for name in _COLUMNS], align=True)


class Mechanisms:
    """A batch of B mechanisms. Entries are checked once, here, and never change.

    Each field is a read-only column of shape (B,), for instance ``mechanisms.reserve_price``.
    Categorical fields hold the index into their tuple in ``CHOICES`` (int8), numeric fields are
    float64 and flags are bool.

    Args:
        malformed: Rows whose proposal could not be read, bool, shape (B,), by default none. Such a
            row holds a default mechanism that is never played, and its step scores 0.
        columns: The eleven columns by name; they are copied.

    Raises:
        MechanismError: An entry of a column is out of range, or its shape or type is wrong.
        TypeError: A column is missing or unknown.
    """

    __slots__ = ("_rows",)
    malformed: NDArray[np.bool_]

    def __init__(
        self, *, malformed: NDArray[np.bool_] | None = None, **columns: NDArray[Any]
    ) -> None:
        if set(columns) != set(FIELDS):
            raise TypeError(f"columns: {', '.join(columns)}; give {', '.join(FIELDS)}")
        length = len(columns[FIELDS[0]])
        self._rows = np.zeros(length, _ROW)
        if malformed is not None:
            if malformed.shape != (length,) or malformed.dtype != np.bool_:
                shape = (malformed.shape, malformed.dtype.name)
                raise MechanismError("malformed", shape, f"give booleans of shape ({length},)")
            self._rows["malformed"] = malformed
        for name in FIELDS:
            column = _checked_column(name, np.asarray(columns[name]))
            if column.shape != (length,):
                raise MechanismError(name, column.shape, f"give a column of shape ({length},)")
            self._rows[name] = column

    @classmethod
    def _of(cls, rows: NDArray[np.void]) -> Mechanisms:
        """Return rows that are known to be valid, without a check."""
        made = cls.__new__(cls)
        made._rows = rows
        return made

    def __getattr__(self, name: str) -> NDArray[Any]:
        """Return a column, shape (B,), or ``malformed``: which rows hold no proposal."""
        if name not in _COLUMNS:
            raise AttributeError(f"{name}: no such field; the fields are {', '.join(FIELDS)}")
        column: NDArray[Any] = self._rows[name]
        column.flags.writeable = False
        return column

    @property
    def rows(self) -> NDArray[np.void]:
        """Return the batch as kernels read it: one record for each mechanism, shape (B,)."""
        rows = self._rows.view()
        rows.flags.writeable = False
        return rows

    @property
    def numbers(self) -> NDArray[np.float64]:
        """Return the fields as numbers, in the order of ``FIELDS``: words as codes, flags as 0, 1.

        This is a copy, shape (B, 11).
        """
        numbers = np.empty((len(self), len(FIELDS)))
        for number, name in enumerate(FIELDS):
            numbers[:, number] = self._rows[name]
        return numbers

    def crossed(self, rows: NDArray[np.integer[Any]]) -> Mechanisms:
        """Return mechanisms each of whose fields is that of a row of its own.

        Args:
            rows: Numbers of rows, shape (M, 11), in the order of ``FIELDS``.
        """
        made = np.zeros(len(rows), _ROW)
        for name, chosen in zip(FIELDS, rows.T, strict=True):
            made[name] = self._rows[name][chosen]
        return self._of(made)

    def __repr__(self) -> str:
        """Return the mechanism if it is the only one, and otherwise their number."""
        if len(self) == 1 and not self.malformed[0]:
            return f"Mechanisms([{self[0]!r}])"
        malformed = int(self.malformed.sum())
        return f"Mechanisms({len(self)} rows{f', {malformed} malformed' if malformed else ''})"

    def __len__(self) -> int:
        """Return B."""
        return len(self._rows)

    def __getitem__(self, index: int) -> Mechanism:
        """Return row ``index`` as a single mechanism."""
        row = {name: self._rows[name][index].item() for name in FIELDS}
        for name, words in CHOICES.items():
            row[name] = words[row[name]]
        return Mechanism(**row)

    def take(self, rows: NDArray[np.integer[Any]]) -> Mechanisms:
        """Return the given rows, in that order, with repeats allowed."""
        return self._of(self._rows[rows])

    def replace(self, rows: NDArray[np.integer[Any]], others: Mechanisms) -> Mechanisms:
        """Return a copy in which the given rows are those of ``others``, in order."""
        changed = self._rows.copy()
        changed[rows] = others._rows
        return self._of(changed)

    def with_columns(self, **columns: NDArray[Any]) -> Mechanisms:
        """Return a copy with other columns for some fields.

        Raises:
            MechanismError: An entry is out of range.
        """
        kept = {name: getattr(self, name) for name in FIELDS}
        return Mechanisms(malformed=self.malformed, **(kept | columns))

    def rounded(self) -> Mechanisms:
        """Return the mechanisms as people write them: reserves to 0.01, penalties to 0.1."""
        decimals = {name: 2 if name == "reserve_price" else 1 for name in RANGES}
        return self.with_columns(**{n: getattr(self, n).round(d) for n, d in decimals.items()})

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
