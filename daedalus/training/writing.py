"""What constrained answers may be, and how one is changed into a neighbour."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from daedalus.market.allowed import Allowed
from daedalus.market.mechanism_schema import mechanism_pattern
from daedalus.training.constrained import Constraint, Constraints, constraint_to
from daedalus.training.model import LanguageModel

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


def mechanism_constraint(
    language_model: LanguageModel, allowed: Mapping[str, Allowed] | None = None
) -> Constraint:
    """Return the constraint to one mechanism; for what is allowed see ``Goal``."""
    pattern = mechanism_pattern(allowed)
    return constraint_to(pattern, language_model.model, language_model.tokenizer)
