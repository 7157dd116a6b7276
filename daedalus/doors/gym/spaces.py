"""Observations as a vector of named numbers, and actions as levels of the eleven fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Box, MultiDiscrete, Space
from numpy.typing import ArrayLike, NDArray

from daedalus.design.env import Episodes
from daedalus.design.search.features import FEATURES, observed_features
from daedalus.design.search.space import LEVELS, FieldValues, Places, places_of
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms

Actions = NDArray[np.int64]
Numbers = NDArray[np.float32]


def observation_space() -> Space[Numbers]:
    """Return the space of an observation, a ``Box``: one number for each of ``FEATURES``."""
    return Box(-np.inf, np.inf, (len(FEATURES),), np.float32)


def action_space(table: FieldValues = LEVELS) -> Space[Actions]:
    """Return the space of an action: for each of ``FIELDS``, in order, the number of a level."""
    return MultiDiscrete(Places(table).sizes)


def mechanisms_of(levels: Places, actions: ArrayLike, *count: int) -> Mechanisms:
    """Return the mechanisms of actions; one action is a batch of one.

    Args:
        levels: The levels of each field, which actions number.
        actions: Integers, shape (11,), or (B, 11) with a count.
        *count: B, if there are several actions.

    Raises:
        ValueError: They are no integers, have another shape, or one is not the number of a level.
    """
    given = integers(actions, (*count, len(FIELDS)))
    try:
        return levels.mechanisms(np.atleast_2d(given))
    except IndexError as error:
        raise ValueError(f"action: {error}") from None


def numbers_of(episodes: Episodes) -> Numbers:
    """Return what designers of B episodes see, shape (B, F), rounded to single precision."""
    return observed_features(episodes.observe()).astype(np.float32)


def decode(action: ArrayLike, table: FieldValues = LEVELS) -> Mechanism:
    """Return the mechanism of one action, see ``mechanisms_of``."""
    return mechanisms_of(Places(table), action)[0]


def integers(actions: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.integer[Any]]:
    """Return actions as an array of integers of a shape; only their ranges are not checked."""
    try:
        given = np.asarray(actions)
    except (ValueError, OverflowError):  # of rows that differ in length, say
        given = np.asarray(None)
    if given.dtype.kind not in "iu" or given.shape != shape:
        was = type(actions).__name__ if given.dtype == object else given.dtype.name
        raise ValueError(
            f"action: {was} of shape {given.shape}; give integers of shape {shape}: of each field "
            "the number of a level"
        )
    return given


def require_options(options: object, known: Sequence[str] = ()) -> dict[str, Any]:
    """Return the options of a reset, empty for None; a reset reads those that are ``known``.

    Raises:
        ValueError: They are no mapping, or nothing reads one of them.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(f"options: {options!r}; give a mapping or None")
    for name in options:
        if name not in known:
            reads = f"reads only {', '.join(known)}" if known else "reads none"
            raise ValueError(
                f"options: {name!r}; reset {reads}, so leave it out, or choose the population, the "
                "market or the reward where the environment is made"
            )
    return dict(options)


def encode(mechanism: Mechanism, table: FieldValues = LEVELS) -> Actions:
    """Return the action with the nearest levels, shape (11,)."""
    return np.asarray(places_of(Mechanisms.stack([mechanism]), table)[0])
