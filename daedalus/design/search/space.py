"""The space of mechanisms: uniform draws, the levels of each field, and changes of one field."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daedalus.market.allowed import Allowed, Between
from daedalus.market.goal import ANYTHING, Goal, by_allowed, column
from daedalus.market.mechanism import CHOICES, FIELDS, FLAGS, RANGES, Mechanism, Mechanisms

_PUBLISHED_RESERVE_HIGH = 0.5

FieldValues = Mapping[str, tuple[Any, ...]]
"""Values of each field, such as ``LEVELS`` or ``GRID``, or what a goal allows of them."""

LEVELS: dict[str, tuple[Any, ...]] = (
    dict(CHOICES)
    | {name: (False, True) for name in FLAGS}
    | {name: (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0) for name in RANGES}
    | {"reserve_price": tuple(round(0.1 * step, 1) for step in range(10))}
)
"""Values of each field that a sweep tries."""


def _grid(name: str) -> tuple[Any, ...]:
    if name not in RANGES:
        return LEVELS[name]
    low, high = RANGES[name]
    unit = 100 if name == "reserve_price" else 10
    return tuple(number / unit for number in range(round(low * unit), round(high * unit) + 1))


GRID: dict[str, tuple[Any, ...]] = {name: _grid(name) for name in FIELDS}
"""All settings of each field, with hundredths of the reserve and tenths of the penalties."""


class Places:
    """The mechanisms of a table of values, by the place of each field's value in it.

    Args:
        table: Values of each field.

    Attributes:
        sizes: Number of values of each of ``FIELDS``, in order.
    """

    def __init__(self, table: FieldValues) -> None:
        self.sizes = np.array([len(table[name]) for name in FIELDS])
        most = self.sizes.max()
        columns = {name: column(name, table[name]) for name in FIELDS}
        self._settings = Mechanisms(
            **{name: np.pad(each, (0, most - len(each)), "edge") for name, each in columns.items()}
        )

    def mechanisms(self, places: NDArray[np.integer[Any]]) -> Mechanisms:
        """Return the mechanisms with these places, shape (B, 11).

        Raises:
            IndexError: A field has no such place.
        """
        wrong = (places < 0) | (places >= self.sizes)
        if wrong.any():
            row, place = np.argwhere(wrong)[0]
            given, most = places[row, place], self.sizes[place] - 1
            raise IndexError(f"{FIELDS[place]} has no level {given}; give 0 to {most}")
        return self._settings.crossed(places)


def mechanisms_at(places: NDArray[np.integer[Any]], table: FieldValues = GRID) -> Mechanisms:
    """Return the mechanisms with these places in a table of values, see ``Places``."""
    return Places(table).mechanisms(places)


def places_of(mechanisms: Mechanisms, table: FieldValues = GRID) -> NDArray[np.int64]:
    """Return the places of the nearest values, shape (B, 11): undoes ``mechanisms_at``."""
    columns = []
    for name in FIELDS:
        given, settings = getattr(mechanisms, name), column(name, table[name])
        apart = np.abs(given[:, None].astype(np.float64) - settings.astype(np.float64))
        columns.append(apart.argmin(axis=1))
    return np.stack(columns, axis=1)


def random_mechanisms(
    count: int, rng: np.random.Generator, sampling: str = "uniform", goal: Goal = ANYTHING
) -> Mechanisms:
    """Draw ``count`` mechanisms with independent, uniform fields, which the goal allows.

    The sampling ``uniform`` covers the valid space. ``published`` draws reserves up to 0.5 only, as
    far as the goal allows any.
    """
    columns: dict[str, Any] = {}
    for name in (*CHOICES, *RANGES, *FLAGS):
        allowed = goal.values(name)
        if sampling == "published" and name == "reserve_price" and isinstance(allowed, Between):
            high = min(allowed.high, max(allowed.low, _PUBLISHED_RESERVE_HIGH))
            allowed = Between(allowed.low, high)
        columns[name] = _drawn(name, allowed, count, rng)
    return Mechanisms(**columns)


def random_allowed(
    count: int, rng: np.random.Generator, goals: NDArray[np.object_], sampling: str = "uniform"
) -> Mechanisms:
    """Draw a mechanism for each of ``count`` markets by ``random_mechanisms``.

    ``goals`` has the goal of each, shape (count,), or none if nobody said.
    """
    groups = by_allowed(goals)
    if len(groups) < 2:
        goal = groups[0][0] if groups else ANYTHING
        return random_mechanisms(count, rng, sampling, goal)
    drawn = Mechanisms.repeat(Mechanism(), count)
    for goal, rows in groups:
        drawn = drawn.replace(rows, random_mechanisms(len(rows), rng, sampling, goal))
    return drawn


def _drawn(name: str, allowed: Allowed, count: int, rng: np.random.Generator) -> NDArray[Any]:
    if isinstance(allowed, Between):
        return rng.uniform(*allowed, size=count)
    if name in FLAGS and len(allowed) > 1:
        return rng.random(count) < 0.5
    return column(name, allowed)[rng.integers(len(allowed), size=count)]


def neighbour(
    mechanism: Mechanism, rng: np.random.Generator, grid: FieldValues = GRID
) -> Mechanism:
    """Return the mechanism with one field, drawn uniformly, at another value of the grid.

    Fields that have no other value stay as they are, and so does the mechanism if none has.
    """
    others = {
        name: [each for each in grid[name] if each != getattr(mechanism, name)] for name in FIELDS
    }
    movable = [name for name in FIELDS if others[name]]
    if not movable:
        return mechanism
    name = movable[rng.integers(len(movable))]
    return dataclasses.replace(mechanism, **{name: others[name][rng.integers(len(others[name]))]})


def neighbours_at(
    places: NDArray[np.int64], rng: np.random.Generator, grid: FieldValues = GRID
) -> NDArray[np.int64]:
    """Return places in a grid, shape (B, 11), with one field of each row at another value.

    Fields of one value stay as they are.
    """
    counts = np.array([len(grid[name]) for name in FIELDS])
    movable = np.flatnonzero(counts > 1)
    if not len(movable):
        return places.copy()
    fields = movable[rng.integers(len(movable), size=len(places))]
    sizes = counts[fields]
    rows, moved = np.arange(len(places)), places.copy()
    moved[rows, fields] = (places[rows, fields] + rng.integers(1, sizes)) % sizes
    return moved


def variants(mechanism: Mechanism, name: str, levels: FieldValues = LEVELS) -> list[Mechanism]:
    """Return the mechanism with the field ``name`` at each of its levels, in order."""
    return [dataclasses.replace(mechanism, **{name: level}) for level in levels[name]]


def with_one_field_redrawn(
    mechanisms: Mechanisms, rng: np.random.Generator, levels: FieldValues = LEVELS
) -> Mechanisms:
    """Return the mechanisms with one random field of each at one of its levels."""
    fields = rng.integers(len(FIELDS), size=len(mechanisms))
    for number, name in enumerate(FIELDS):
        rows = np.flatnonzero(fields == number)
        changed = {name: rng.choice(column(name, levels[name]), size=len(rows))}
        mechanisms = mechanisms.replace(rows, mechanisms.take(rows).with_columns(**changed))
    return mechanisms
