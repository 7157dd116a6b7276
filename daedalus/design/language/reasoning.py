"""What follows the reasoning of a language model: the answer, and the mechanism in it."""

from __future__ import annotations

import re

from daedalus.market.goal import ANYTHING, Goal
from daedalus.market.parsing import ParsedMechanism, no_mechanism, parse_mechanism

_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


def after_reasoning(text: str) -> str:
    """Return what follows the last reasoning in tags such as ``<think>``.

    Raises:
        ValueError: The reasoning does not end.
    """
    tags = list(_TAG.finditer(text))
    if not tags:
        return text
    last = tags[-1]
    if not last[1]:
        raise ValueError(f"cut off: {last[0]} does not end; allow more tokens")
    return text[last.end() :]


def answered_mechanism(text: str, strict: bool = False, goal: Goal = ANYTHING) -> ParsedMechanism:
    """Read the one mechanism of an answer.

    Args:
        text: The answer.
        strict: Whether anything beside the object is an error, as in training. If not, reasoning,
            words or a code fence may stand around it.
        goal: A value that it does not allow is an error, as one out of range is.
    """
    if strict:
        return parse_mechanism(text, goal=goal)
    try:
        answer = after_reasoning(text)
    except ValueError as error:
        return no_mechanism(str(error))
    return parse_mechanism(answer, strict=False, goal=goal)
