"""Observations as a vector of named numbers, and actions as levels of the eleven fields."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.spaces import Box, MultiDiscrete, Space
from numpy.typing import NDArray

from daedalus.env import Episodes
from daedalus.market.mechanism import FIELDS, Mechanism, Mechanisms
from daedalus.search.features import FEATURES, observed_features
from daedalus.search.space import LEVELS, mechanisms_at, places_of

Actions = NDArray[np.int64]
Numbers = NDArray[np.float32]


def observation_space() -> Space[Numbers]:
    """Return the space of an observation, a ``Box``: one number for each of ``FEATURES``."""
    return Box(-np.inf, np.inf, (len(FEATURES),), np.float32)


def action_space() -> Space[Actions]:
    """Return the space of an action: for each of ``FIELDS``, in order, the number of a level."""
    return MultiDiscrete([len(LEVELS[name]) for name in FIELDS])


def numbers_of(episodes: Episodes) -> Numbers:
    """Return what designers of B episodes see, shape (B, F), rounded to single precision."""
    return observed_features(episodes.observe()).astype(np.float32)


def mechanisms_of(actions: NDArray[np.integer[Any]]) -> Mechanisms:
    """Return the mechanisms of B actions, shape (B, 11).

    Raises:
        ValueError: An entry is not the number of a level.
    """
    sizes = np.array([len(LEVELS[name]) for name in FIELDS])
    wrong = (actions < 0) | (actions >= sizes)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        name, value = FIELDS[column], actions[row, column]
        raise ValueError(f"action: {name} has no level {value}; give 0 to {sizes[column] - 1}")
    return mechanisms_at(actions, LEVELS)


def decode(action: NDArray[np.integer[Any]]) -> Mechanism:
    """Return the mechanism of one action, shape (11,).

    Raises:
        ValueError: An entry is not the number of a level.
    """
    return mechanisms_of(np.asarray(action)[None])[0]


def encode(mechanism: Mechanism) -> Actions:
    """Return the action with the nearest levels, shape (11,)."""
    return np.asarray(places_of(Mechanisms.stack([mechanism]), LEVELS)[0])
