"""Briefs by the name of their split, or of a file, with their markets."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from daedalus.design.briefs.benchmark import Benchmark
from daedalus.design.briefs.brief import read_briefs
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.design.env import DesignEnv
from daedalus.doors import public


def benchmark(briefs: str) -> Benchmark:
    """Return frozen briefs, or one's own.

    Args:
        briefs: A split, such as ``wordings`` or ``training``, or a JSON-lines file (``.jsonl``).

    Raises:
        BriefError: There is no such split or file, or a line of the file is no brief.
    """
    if briefs.endswith(".jsonl"):
        return Benchmark(read_briefs(Path(briefs), _market), _market)
    return Benchmark(frozen_briefs(briefs), _market)


@cache
def _market(population: str) -> DesignEnv:
    """Return the market in which the frozen briefs were measured, with some bidders."""
    return public.make(population, market="fresh").env
