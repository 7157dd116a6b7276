"""Random valid mechanisms, from which a model learns the format."""

from __future__ import annotations

import numpy as np

from daedalus.design.search.space import random_mechanisms
from daedalus.market.goal import ANYTHING, Goal
from daedalus.market.mechanism import RANGES, Mechanism
from daedalus.market.seeds import generator

_END_PROBABILITY = 0.2


def synthetic_mechanisms(count: int, seed: int, goal: Goal = ANYTHING) -> list[Mechanism]:
    """Return ``count`` mechanisms that cover what a goal allows.

    Fields are independent and uniform, except that one number in five is at an end of its range.
    Ends are natural choices, and they decide validity: 3.0 is allowed and 3.1 is not. Reserves are
    rounded to 0.01 and penalties to 0.1, as people write them.
    """
    rng = generator(seed, "synthetic")
    drawn, columns = random_mechanisms(count, rng, goal=goal).rounded(), {}
    for name, ends in RANGES.items():
        at_end = rng.random(count) < _END_PROBABILITY
        columns[name] = np.where(at_end, rng.choice(ends, size=count), getattr(drawn, name))
    drawn = goal.nearest(drawn.with_columns(**columns))
    return [drawn[row] for row in range(count)]
