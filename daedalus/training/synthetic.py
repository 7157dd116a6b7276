"""Mechanisms that teach the format: any that is valid."""

from __future__ import annotations

from daedalus.market.mechanism import RANGES, Mechanism
from daedalus.market.seeds import generator
from daedalus.search.space import random_mechanisms

_END_PROBABILITY = 0.2


def synthetic_mechanisms(count: int, seed: int) -> list[Mechanism]:
    """Return ``count`` mechanisms that cover the valid space, as a designer would write them.

    Fields are independent and uniform, but a numeric one lies at an end of its range one time in
    five: ends are where validity is decided (3.0 is allowed, 3.1 is not) and are natural choices.
    Reserves are rounded to 0.01 and penalties to 0.1.
    """
    rng = generator(seed, "synthetic")
    drawn = random_mechanisms(count, rng).rounded()
    for name, ends in RANGES.items():
        values = getattr(drawn, name)
        at_end = rng.random(count) < _END_PROBABILITY
        values[at_end] = rng.choice(ends, size=count)[at_end]
        setattr(drawn, name, values)
    return [drawn[row] for row in range(count)]
