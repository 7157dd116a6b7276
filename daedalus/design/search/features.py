"""An observation as numbers with names."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from daedalus.market.history import HISTORY_LENGTH
from daedalus.market.mechanism import CHOICES, FIELDS
from daedalus.market.observation import PROXIES, Observation
from daedalus.market.outcome import ROUND_FIELDS

_NEWEST = 5  # rounds, as many as a step has
_CHOSEN = np.repeat(
    [FIELDS.index(name) for name in CHOICES], [len(each) for each in CHOICES.values()]
)
_CODES = np.concatenate([np.arange(len(words)) for words in CHOICES.values()])

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
the share of the episode that has been played. ``mean_`` leaves out rounds not yet played;
``newest_`` counts them as 0, so after three rounds of warm-up it is 0.6 of their mean."""


def observed_features(observation: Observation) -> NDArray[np.float64]:
    """Return an observation as numbers, shape (B, F), in the order of ``FEATURES``."""
    unplayed = np.isnan(observation.recent)
    recent = np.where(unplayed, 0.0, observation.recent)
    known = np.maximum(HISTORY_LENGTH - unplayed[:, :, :1].sum(axis=1), 1)
    means = recent.sum(axis=1) / known, recent[:, -_NEWEST:].sum(axis=1) / _NEWEST
    settings = observation.mechanisms.numbers
    words = settings[:, _CHOSEN] == _CODES
    played = (observation.round_number / observation.episode_length)[:, None]
    return np.concatenate([observation.proxies, *means, settings, words, played], axis=1)
