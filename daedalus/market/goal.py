"""What a designer is asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daedalus.market.allowed import Allowed, Between, check_value, free, read_allowed
from daedalus.market.mechanism import CHOICES, Mechanism, MechanismError, Mechanisms

_COMPOSITE = {"composite": 1.0}

Restrictions = tuple[tuple[str, type[Any], Allowed], ...]
"""What a goal allows: field, kind and values of each restriction."""


@dataclass(frozen=True)
class Goal:
    """What a designer is asked for in one market.

    Attributes:
        weights: Weights of reward terms by name; none if nobody said.
        allowed: For each restricted field of the mechanism the values that may be set, or a range
            ``Between(low, high)`` of numbers. Other fields are free.
        brief: What is asked for in words; empty if nobody said.

    Raises:
        ValueError: A restriction is none, see ``read_allowed``.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    allowed: Mapping[str, Allowed] = field(default_factory=dict)
    brief: str = ""

    def __post_init__(self) -> None:
        if self.allowed:
            object.__setattr__(self, "allowed", read_allowed(self.allowed))

    @property
    def is_usual(self) -> bool:
        """Return whether it is the composite reward R, which is also meant if nobody said."""
        return not self.weights or self.weights == _COMPOSITE

    @property
    def restrictions(self) -> Restrictions:
        """Return what is allowed as a key of mappings: a range is not its two ends as values."""
        return tuple((name, type(each), each) for name, each in self.allowed.items())

    def values(self, name: str) -> Allowed:
        """Return what a field may be: its values, or the range of a number as ``Between``."""
        return self.allowed.get(name, free(name))

    def check_value(self, name: str, value: object) -> None:
        """Refuse a field's value that is not allowed.

        Raises:
            MechanismError: The message names field, value and what is allowed.
        """
        check_value(name, value, self.values(name))

    def admits(self, mechanism: Mechanism) -> bool:
        """Return whether a mechanism may be set."""
        return not self.refusal(mechanism)

    def refusal(self, mechanism: Mechanism) -> str:
        """Return which value may not be set, and what may, in a sentence; empty if all may."""
        try:
            self.require(mechanism)
        except MechanismError as error:
            return str(error)
        return ""

    def require(self, mechanism: Mechanism) -> None:
        """Refuse a mechanism that may not be set, as one out of range is refused.

        Raises:
            MechanismError: The message names field, value and what is allowed.
        """
        for name in self.allowed:
            self.check_value(name, getattr(mechanism, name))

    def settings(self, table: Mapping[str, tuple[Any, ...]]) -> Mapping[str, tuple[Any, ...]]:
        """Return the values of each field that a search tries and the goal allows.

        Args:
            table: Values of each field, such as ``GRID`` or ``LEVELS``. Of a field with a range
                those inside it stay, and its ends are added; one with values has all of these.
        """
        if not self.allowed:
            return table
        return {name: self._settings(name, each) for name, each in table.items()}

    def nearest(self, mechanisms: Mechanisms) -> Mechanisms:
        """Return mechanisms with each field at its nearest allowed value.

        Numbers go to the nearest one. Words and flags that are not allowed go to the first that is.
        Malformed rows stay malformed.
        """
        if not self.allowed:
            return mechanisms
        columns = {name: getattr(mechanisms, name) for name in self.allowed}
        moved = {name: _nearest(name, each, self.allowed[name]) for name, each in columns.items()}
        return mechanisms.with_columns(**moved)

    def _settings(self, name: str, settings: tuple[Any, ...]) -> tuple[Any, ...]:
        allowed = self.allowed.get(name, settings)
        if not isinstance(allowed, Between):
            return allowed
        inside = (each for each in settings if allowed.low <= each <= allowed.high)
        return tuple(sorted({*allowed, *inside}))


ANYTHING = Goal()
"""The goal of nobody: every mechanism is allowed."""


def by_allowed(
    goals: NDArray[np.object_] | Sequence[Goal],
) -> list[tuple[Goal, NDArray[np.intp]]]:
    """Return the rows of goals that allow the same, with one of their goals, in order.

    Args:
        goals: The goal of each row, shape (B,).
    """
    groups: dict[Restrictions, list[int]] = {}
    for row, goal in enumerate(goals):
        groups.setdefault(goal.restrictions, []).append(row)
    return [(goals[rows[0]], np.array(rows, np.intp)) for rows in groups.values()]


def nearest_allowed(mechanisms: Mechanisms, goals: NDArray[np.object_]) -> Mechanisms:
    """Return the mechanisms of a designer that cannot obey, each moved by ``Goal.nearest``.

    Args:
        mechanisms: B mechanisms.
        goals: The goal of each, shape (B,); none if nobody said.
    """
    columns: dict[str, NDArray[Any]] = {}
    for goal, rows in by_allowed(goals):
        for name, allowed in goal.allowed.items():
            column = columns.setdefault(name, getattr(mechanisms, name).copy())
            column[rows] = _nearest(name, column[rows], allowed)
    return mechanisms.with_columns(**columns) if columns else mechanisms


def refuse_others(mechanisms: Mechanisms, goals: NDArray[np.object_]) -> None:
    """Refuse mechanisms that their goals do not allow; malformed rows hold none.

    Args:
        mechanisms: B mechanisms.
        goals: The goal of each, shape (B,).

    Raises:
        MechanismError: The message names field, value and what is allowed.
    """
    for goal, rows in by_allowed(goals):
        refused = np.zeros(len(rows), np.bool_)
        for name, allowed in goal.allowed.items():
            given = getattr(mechanisms, name)[rows]
            refused |= _nearest(name, given, allowed) != given
        refused &= ~mechanisms.malformed[rows]
        if refused.any():
            goal.require(mechanisms[int(rows[refused][0])])


def column(name: str, values: tuple[Any, ...]) -> NDArray[Any]:
    """Return values of a field as ``Mechanisms`` hold them: words as their codes, shape (N,)."""
    return np.array([CHOICES[name].index(each) for each in values] if name in CHOICES else values)


def _nearest(name: str, given: NDArray[Any], allowed: Allowed) -> NDArray[Any]:
    """Return a column with each entry at the nearest allowed value, shape (B,)."""
    if isinstance(allowed, Between):
        return np.clip(given, *allowed)
    values = column(name, allowed)
    if given.dtype == np.float64:
        return np.asarray(values[np.abs(given[:, None] - values).argmin(axis=1)])
    return np.where(np.isin(given, values), given, values[0])
