"""Parts of a sentence that ask for different things, as readers learn and find them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from daedalus.design.briefs.amounts import masked_with_places
from daedalus.design.briefs.wordings import DATA

Parts = tuple[tuple[str, str], ...]
"""A sentence in parts, each a text and its meaning; the texts together are the sentence."""

JOINTS = (", and ", "; ", ", but ", " and ", ": ", ", ", " - ", ", while ", ". ")
"""What may stand between two sentences that become one."""

_EDGE = r"(?:[\s,;:\u2013\u2014]|-(?!\d))+"  # the minus of an amount stays
_EDGES = re.compile(rf"^(?:{_EDGE})?(?:(?:and|but)\s+)?|{_EDGE}$")
_LEAST_PROBABILITY = 1e-6

_SWITCH = 4.0  # nats that a change of meaning costs between two words
_UNMARKED = 2.0  # more, where nothing stands that usually begins a part
_NEVER = 20.0  # inside a word
_INSIDE = re.compile(r"(?<=\w)\w|(?<=[^\W\d])['\u2019-](?=[^\W\d])|(?<=[^\W\d]['\u2019-])\w")
_MARK = re.compile(
    r"(?:and|but|n?or|plus|with|without|while|whereas|along|together|rather)\b", re.I
)
"""Words with which parts begin. Of the 4,962 in ``sentences_in_parts`` that are not the first 93 %
follow punctuation, or begin with it, and 4 % begin with one of these."""


@cache
def sentences_in_parts() -> tuple[Parts, ...]:
    """Return sentences by twenty writers: most ask for several things, or have a reason, too."""
    given = json.loads((DATA / "wordings_parts.json").read_text(encoding="utf-8"))
    return tuple(tuple((text, meaning) for text, meaning in each) for each in given)


def parts_alone() -> list[tuple[str, str]]:
    """Return each part of ``sentences_in_parts`` with its meaning, without what joins it."""
    return [(_EDGES.sub("", text), name) for each in sentences_in_parts() for text, name in each]


def joined(first: Parts, second: Parts, joint: str) -> Parts:
    """Return two sentences as one; the joint belongs to the second."""
    (*before, (end, last)), ((start, next_one), *after) = first, second
    shouted = start[:2].isupper()
    start = joint + (start if shouted else start[:1].lower() + start[1:])
    return (*before, (end.rstrip().rstrip(".!"), last), (start, next_one), *after)


def masked_labels(parts: Parts) -> tuple[str, NDArray[np.int64]]:
    """Return the masked sentence, and the number of the part of each of its characters."""
    text, places = masked_with_places("".join(each for each, _ in parts))
    numbers = np.repeat(np.arange(len(parts)), [len(each) for each, _ in parts])
    return text, numbers[places]


def costs_of_a_part(text: str, starts: Sequence[int]) -> NDArray[np.float64]:
    """Return what it costs, in nats, that a part begins at each of some characters."""
    return np.array([_cost_of_a_part(text, start) for start in starts])


def _cost_of_a_part(text: str, start: int) -> float:
    if _INSIDE.match(text, start):
        return _NEVER
    words = text[:start].rstrip(" \"'(")[-1:].isalnum() and text[start].isalnum()
    return _SWITCH + _UNMARKED * (words and not _MARK.match(text, start))


def runs(
    probabilities: NDArray[np.floating], switches: Sequence[float] | NDArray[np.float64]
) -> list[tuple[int, int, int]]:
    """Return the likeliest runs of words with one label (Viterbi 1967).

    Args:
        probabilities: Probability of each label at each of W words, shape (W, labels).
        switches: What it costs that the label changes at each word, in nats, W of them.

    Returns:
        First word, the word after the last one, and the label of each run.
    """
    scores = np.log(probabilities + _LEAST_PROBABILITY)
    best, steps = scores[0], []
    for row, switch in zip(scores[1:], switches[1:], strict=True):
        moved = best.max() - switch
        steps.append(np.where(best >= moved, np.arange(len(best)), best.argmax()))
        best = np.maximum(best, moved) + row
    path = [int(best.argmax())]
    for step in reversed(steps):
        path.append(int(step[path[-1]]))
    labels = np.array(path[::-1])
    starts = np.flatnonzero(np.diff(labels, prepend=-1))
    ends = [*starts[1:], len(labels)]
    return [(int(a), int(b), int(labels[a])) for a, b in zip(starts, ends, strict=True)]


def texts_of(text: str, starts: Sequence[int]) -> list[str]:
    """Return the parts of a sentence that begin at some characters, without what joins them."""
    ends = [*starts[1:], len(text)]
    return [_EDGES.sub("", text[a:b]) for a, b in zip(starts, ends, strict=True)]
