"""What constrained answers may be, and how one is changed into a neighbour."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from daedalus.training.constrained import Constraints

Change = Callable[[Sequence[int], str, np.random.Generator], str]
"""Returns a neighbour of an answer to a prompt, which is given as its tokens."""


@dataclass(frozen=True)
class Writing:
    """What constrained answers may be.

    Attributes:
        allow: Returns what may be written after a prompt.
        change: Returns a neighbour of an answer.
    """

    allow: Constraints
    change: Change
