"""Synthetic mechanisms, which teach the format."""

from __future__ import annotations

import numpy as np

from daedalus.market.mechanism import CHOICES, RANGES, Mechanisms
from daedalus.training.synthetic import synthetic_mechanisms


def test_synthetic_mechanisms_cover_the_space_and_its_ends() -> None:
    batch = Mechanisms.stack(synthetic_mechanisms(4000, seed=0))
    for name, words in CHOICES.items():
        counts = np.bincount(getattr(batch, name), minlength=len(words))
        assert (counts > 4000 / len(words) * 0.85).all()
    for name, (low, high) in RANGES.items():
        values = getattr(batch, name)
        assert 0.08 < (values == low).mean() < 0.13
        assert 0.08 < (values == high).mean() < 0.13
        inside = values[(values > low) & (values < high)]
        assert abs(inside.mean() - (low + high) / 2) < 0.05 * (high - low)
    assert (batch.reserve_price == batch.reserve_price.round(2)).all()
    assert (batch.collusion_penalty == batch.collusion_penalty.round(1)).all()
