"""An observation as numbers with names."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daedalus.market.mechanism import CHOICES, FIELDS
from daedalus.market.observation import PROXIES, Observation
from daedalus.market.outcome import ROUND_FIELDS

_NEWEST = 5  # rounds, as many as a step has

FEATURES: tuple[str, ...] = (
    *PROXIES,
    *(f"mean_{name}" for name in ROUND_FIELDS),
    *(f"newest_{name}" for name in ROUND_FIELDS),
    *FIELDS,
    *(f"{name}={word}" for name, words in CHOICES.items() for word in words),
    "episode_played",
)
"""Names of the numbers of ``observed_features``: the statistics of the population, means over the
last 20 rounds and over the last 5, the mechanism in force (words by number, then as 0 or 1), and
the share of the episode that has been played."""


def observed_features(observation: Observation) -> NDArray[np.float64]:
    """Return an observation as numbers, shape (B, F), in the order of ``FEATURES``."""
    recent = np.nan_to_num(observation.recent)
    known = np.maximum(np.isfinite(observation.recent[:, :, :1]).sum(axis=1), 1)
    mechanisms = observation.mechanisms
    columns = [np.asarray(getattr(mechanisms, name), np.float64) for name in FIELDS]
    for name, words in CHOICES.items():
        columns += [(getattr(mechanisms, name) == code) * 1.0 for code in range(len(words))]
    columns.append(observation.round_number / observation.episode_length)
    means = [recent.sum(axis=1) / known, recent[:, -_NEWEST:].mean(axis=1)]
    return np.concatenate([observation.proxies, *means, np.stack(columns, axis=1)], axis=1)
