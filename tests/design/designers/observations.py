"""Observations by hand, for the tests of the designers; a helper, not a test."""

from __future__ import annotations

import numpy as np

from daedalus.market.history import HISTORY_LENGTH, History
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observation import PROXIES, Observation
from daedalus.market.outcome import ROUND_FIELDS


def observe(
    batch: int = 1,
    known: int = HISTORY_LENGTH,
    mechanism: Mechanism | None = None,
    stage: int = 3,
    **values: float,
) -> Observation:
    """Return what a designer might see: constant records and proxies, 0 unless given."""
    recent = np.full((batch, HISTORY_LENGTH, len(ROUND_FIELDS)), np.nan)
    recent[:, HISTORY_LENGTH - known :] = 0.0
    proxies = np.zeros((batch, len(PROXIES)))
    for name, value in values.items():
        if name in PROXIES:
            proxies[:, PROXIES.index(name)] = value
        else:
            recent[:, HISTORY_LENGTH - known :, ROUND_FIELDS.index(name)] = value
    mechanisms = Mechanisms.repeat(mechanism or Mechanism(), batch)
    return Observation(mechanisms, History((recent,)), proxies, np.full(batch, 3), 10, stage)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)
