"""The answer of a language model: five bids, in hundredths of a unit of value."""

from __future__ import annotations

import json
import math
import re
from typing import NamedTuple

from daedalus.design.language.reasoning import after_reasoning

POINTS = 5
"""Number of values for which a bidder is asked for its bid."""

SCALE = 100
"""Points in a unit of value. Models know prices from 0 to 100 better than shares."""

BIDS_PATTERN = rf"\[((0|[1-9][0-9]?|{SCALE}),){{{POINTS - 1}}}(0|[1-9][0-9]?|{SCALE})\]"
"""A regular expression of five bids in whole points from 0 to 100, for constrained decoding.

It has no spaces, because not all tokenizers spell them.
"""

BIDS_SCHEMA = {
    "type": "object",
    "properties": {
        "bids": {
            "type": "array",
            "items": {"type": "number", "minimum": 0, "maximum": SCALE},
            "minItems": POINTS,
            "maxItems": POINTS,
        }
    },
    "required": ["bids"],
    "additionalProperties": False,
}
"""JSON schema of the same in an object, as servers ask for one."""

_ARRAY = re.compile(r"\[[^\[\]]*\]")


class Bids(NamedTuple):
    """What a model bids.

    Attributes:
        amounts: Its bids for the five values, in units of value, from 0 to 1.
        clipped: How many of them lay outside these bounds before.
    """

    amounts: tuple[float, ...]
    clipped: int


def read_bids(text: str) -> Bids | None:
    """Return the bids in a text: its only JSON array of five numbers, in points.

    What stands around the array, such as a sentence or a code fence, does not matter, and neither
    do other arrays. A bid below 0 becomes 0; one above 100 points, which no value exceeds, 100.
    There are none if there is no such array or more than one.
    """
    try:
        answer = after_reasoning(text)
    except ValueError:
        return None
    found = [_numbers(each) for each in _ARRAY.findall(answer)]
    lists = [each for each in found if each]
    if len(lists) != 1:
        return None
    kept = [min(max(each, 0.0), float(SCALE)) for each in lists[0]]
    clipped = sum(one != other for one, other in zip(lists[0], kept, strict=True))
    return Bids(tuple(each / SCALE for each in kept), clipped)


def _numbers(text: str) -> list[float]:
    """Return the five numbers of a JSON array, or none if it holds anything else."""
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if len(items) != POINTS or any(type(each) not in (int, float) for each in items):
        return []
    try:
        numbers = [float(each) for each in items]
    except OverflowError:
        return []
    return numbers if all(map(math.isfinite, numbers)) else []
