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

Writer = Literal["first", "second"]
"""The first wrote what trains. The second saw the meanings alone, and wrote what tests."""

_FILES = {"first": "wordings.json", "second": "wordings_unseen.json"}


@cache
def wordings(writer: Writer = "first") -> Mapping[str, tuple[str, ...]]:
    """Return a writer's sentences by meaning; ``{x}`` stands for the amount."""
    given = json.loads((DATA / _FILES[writer]).read_text(encoding="utf-8"))
    return {name: tuple(each) for name, each in given.items()}


def examples(new_kinds: bool = True, most: int | None = None) -> list[tuple[str, str]]:
    """Return the first writer's sentences with their meanings, for readers that learn.

    Args:
        new_kinds: Whether types of clauses that never train in the benchmark are among them.
        most: Sentences of each meaning; all if None.
    """
    return [
        (text.replace("{x}", "0.5"), meaning)
        for meaning, texts in wordings().items()
        if new_kinds or MEANINGS[meaning].trained
        for text in texts[:most]
    ]


def packaged_reader(new_kinds: bool) -> Path:
    """Return the folder of the package's trained reader.

    Args:
        new_kinds: Whether it learnt the types of clauses that the benchmark keeps from training.
    """
    return DATA / ("reader" if new_kinds else "benchmark_reader")


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
