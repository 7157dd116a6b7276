"""Sentences for each meaning: those that train, and those of another writer, which test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from daedalus.design.briefs.meanings import MEANINGS

DATA = Path(__file__).with_name("data")
"""Sentences and frozen briefs."""

NEAR = "near "
"""Begins the name of a class of sentences that only sound like a meaning."""

Writer = Literal["first", "second", "hurried", "negated"]
"""The first wrote what trains. The second saw the meanings alone, and wrote what tests.

The hurried one wrote as people type, for the readers that the package uses, not the benchmark's.
The negated sentences, of two writers, ask by refusing the opposite: "Nobody may learn who won."
"""

_FILES = {
    "first": "wordings.json",
    "second": "wordings_unseen.json",
    "hurried": "wordings_hurried.json",
    "negated": "wordings_negated.json",
}


@cache
def wordings(writer: Writer = "first") -> Mapping[str, tuple[str, ...]]:
    """Return a writer's sentences by meaning; ``{x}`` stands for the amount."""
    given = json.loads((DATA / _FILES[writer]).read_text(encoding="utf-8"))
    return {name: tuple(each) for name, each in given.items()}


def examples(benchmark: bool = False, most: int | None = None) -> list[tuple[str, str]]:
    """Return sentences with their meanings, for readers that learn.

    Args:
        benchmark: Whether they are what the benchmark lets readers learn: the first writer's, of
            the types that train. Otherwise they are all but the second writer's.
        most: Sentences of each meaning and writer; all if None.
    """
    writers: tuple[Writer, ...] = ("first",) if benchmark else ("first", "hurried")
    return [
        (text.replace("{x}", "0.5"), meaning)
        for writer in writers
        for meaning, texts in wordings(writer).items()
        if not benchmark or MEANINGS[meaning].trained
        for text in texts[:most]
    ]


def near_examples() -> list[tuple[str, str]]:
    """Return sentences with their classes, for a reader that shall know what is not asked.

    Two writers wrote 602 that use the words of a meaning and ask for something else, or nothing:
    their class is what is ``NEAR`` this meaning. The negated sentences do ask, and have the meaning
    itself, so that the reader cannot go by a "not".
    """
    given = json.loads((DATA / "wordings_near.json").read_text(encoding="utf-8"))
    near = {f"{NEAR}{meaning}": texts for meaning, texts in given.items()}
    return [
        (text.replace("{x}", "0.5"), name)
        for name, texts in (*near.items(), *wordings("negated").items())
        for text in texts
    ]


def plain_and_near_examples() -> list[tuple[str, str]]:
    """Return more sentences with their classes, for a wary reader.

    Eight writers wrote them: four what only sounds like a meaning, and four plain demands, so that
    it does not take those for none. Two of each four wrote short orders, such as "No VCG". Four
    more wrote both, as sellers of many trades would type, single sentences and parts of longer
    ones.
    """
    given = json.loads((DATA / "wordings_doubts.json").read_text(encoding="utf-8"))
    return [
        (text, prefix + meaning)
        for prefix, writers in ((NEAR, given["near"]), ("", given["plain"]))
        for each in writers
        for meaning, texts in each.items()
        for text in texts
    ]


def packaged_reader(
    name: Literal["reader", "words_reader", "wary_reader", "benchmark_reader"],
) -> Path:
    """Return the folder of a trained reader in the package."""
    return DATA / name


@cache
def minimal_pairs() -> tuple[tuple[str, str, str, str], ...]:
    """Return pairs of sentences that differ in a word or two, each as meaning, text, meaning, text.

    A third writer wrote them.
    """
    given: list[dict[str, Any]] = json.loads((DATA / "pairs.json").read_text("utf-8"))["pairs"]
    return tuple((each["a"], each["a_text"], each["b"], each["b_text"]) for each in given)


@cache
def near_misses() -> tuple[str, ...]:
    """Return sentences that use the words of a rule and ask for nothing, by the third writer."""
    return tuple(json.loads((DATA / "pairs.json").read_text("utf-8"))["near"])
