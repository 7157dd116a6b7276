"""The space of mechanisms: uniform draws, the levels of each field, and changes of one field."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from daedalus.market.mechanism import CHOICES, FIELDS, FLAGS, RANGES, Mechanism, Mechanisms

_PUBLISHED_RESERVE_HIGH = 0.5

LEVELS: dict[str, tuple[Any, ...]] = (
    dict(CHOICES)
    | {name: (False, True) for name in FLAGS}
    | {name: (0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0) for name in RANGES}
    | {"reserve_price": tuple(round(0.1 * step, 1) for step in range(10))}
)
"""Settings of each field that a sweep tries."""


def _grid(name: str) -> tuple[Any, ...]:
    if name not in RANGES:
        return LEVELS[name]
    low, high = RANGES[name]
    unit = 100 if name == "reserve_price" else 10
    return tuple(number / unit for number in range(round(low * unit), round(high * unit) + 1))


GRID: dict[str, tuple[Any, ...]] = {name: _grid(name) for name in FIELDS}
"""All settings of each field, with hundredths of the reserve and tenths of the penalties."""


def mechanisms_at(
    places: NDArray[np.integer[Any]], table: Mapping[str, tuple[Any, ...]] = GRID
) -> Mechanisms:
    """Return the mechanisms with these places in a table of settings.

    Args:
        places: One row for each mechanism, one column for each of ``FIELDS``, in order, shape
            (B, 11), each from 0 to below the number of the field's settings.
        table: Settings of each field, such as ``LEVELS`` or ``GRID``.
    """
    columns = {
        name: column if name in CHOICES else np.array(table[name])[column]
        for name, column in zip(FIELDS, places.T, strict=True)
    }
    return Mechanisms(**columns)


def places_of(
    mechanisms: Mechanisms, table: Mapping[str, tuple[Any, ...]] = GRID
) -> NDArray[np.int64]:
    """Return the places of the nearest settings, shape (B, 11): undoes ``mechanisms_at``."""
    columns = []
    for name in FIELDS:
        column = getattr(mechanisms, name)
        settings = np.arange(len(table[name])) if name in CHOICES else np.array(table[name])
        apart = np.abs(column[:, None].astype(np.float64) - settings.astype(np.float64))
        columns.append(apart.argmin(axis=1))
    return np.stack(columns, axis=1)


def random_mechanisms(
    count: int, rng: np.random.Generator, sampling: str = "uniform"
) -> Mechanisms:
    """Draw mechanisms with independent, uniform fields.

    Args:
        count: Number of mechanisms.
        rng: Source of the draws.
        sampling: ``uniform`` covers the valid space. ``published`` draws reserves up to 0.5 only.
    """
    columns: dict[str, Any] = {
        name: rng.integers(len(words), size=count) for name, words in CHOICES.items()
    }
    for name, (low, high) in RANGES.items():
        narrowed = sampling == "published" and name == "reserve_price"
        columns[name] = rng.uniform(low, _PUBLISHED_RESERVE_HIGH if narrowed else high, size=count)
    for name in FLAGS:
        columns[name] = rng.random(count) < 0.5
    return Mechanisms(**columns)


def neighbour(mechanism: Mechanism, rng: np.random.Generator) -> Mechanism:
    """Return the mechanism with one field, drawn uniformly, at another value of its ``GRID``."""
    name = FIELDS[rng.integers(len(FIELDS))]
    others = [value for value in GRID[name] if value != getattr(mechanism, name)]
    return dataclasses.replace(mechanism, **{name: others[rng.integers(len(others))]})


def neighbours_at(places: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return places in ``GRID``, shape (B, 11), with one field of each row at another value."""
    fields = rng.integers(len(FIELDS), size=len(places))
    sizes = np.array([len(values) for values in GRID.values()])[fields]
    rows, moved = np.arange(len(places)), places.copy()
    moved[rows, fields] = (places[rows, fields] + rng.integers(1, sizes)) % sizes
    return moved


def variants(mechanism: Mechanism, name: str) -> list[Mechanism]:
    """Return the mechanism with the field ``name`` at each of its ``LEVELS``, in order."""
    return [dataclasses.replace(mechanism, **{name: level}) for level in LEVELS[name]]


def with_one_field_redrawn(mechanisms: Mechanisms, rng: np.random.Generator) -> Mechanisms:
    """Return the mechanisms with one random field of each at one of its ``LEVELS``."""
    fields = rng.integers(len(FIELDS), size=len(mechanisms))
    for number, name in enumerate(FIELDS):
        rows = np.flatnonzero(fields == number)
        levels = np.arange(len(LEVELS[name])) if name in CHOICES else np.array(LEVELS[name])
        changed = {name: rng.choice(levels, size=len(rows))}
        mechanisms = mechanisms.replace(rows, mechanisms.take(rows).with_columns(**changed))
    return mechanisms
