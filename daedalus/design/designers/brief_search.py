"""Reads the brief, then searches with what was understood."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from tqdm import tqdm

from daedalus.checks import CannotRunError, at_least, one_of, within
from daedalus.design.briefs.clauses import Understanding
from daedalus.design.briefs.readers import KeywordReader, Reader
from daedalus.design.briefs.search import BUDGET
from daedalus.design.briefs.solver import BriefSolver
from daedalus.design.briefs.wordings import examples
from daedalus.design.designers.base import DesignerContext, DesignerSettings, LoadReader
from daedalus.design.search.budgets import SearchBudget
from daedalus.market.mechanism import Mechanisms
from daedalus.market.observation import Observation

READERS = ("keywords", "tfidf", "minilm", "tuned")
LEAST_CONFIDENCE = 0.72
"""The package's reader for people uses no sentence, and no part, of which it is less sure.

It was chosen on 300 briefs and 314 sentences of five other writers.
"""


@dataclass
class BriefSearchSettings(DesignerSettings, SearchBudget):
    """A reader, and the budget of the search behind it.

    Attributes:
        reader: ``keywords``, ``tfidf`` (words and logistic regression), ``minilm`` (a pretrained
            sentence encoder and logistic regression) or ``tuned`` (the encoder with adapters; the
            package has one for the benchmark, and one that reads several things in a sentence).
        checkpoint: Folder of a ``tuned`` reader, as ``+experiment=brief_reader`` writes it; empty
            for that of the package.
        least_confidence: A sentence, or a part, of which the reader is less sure is not used. None
            is ``LEAST_CONFIDENCE`` for the package's reader for people, else 0.
        benchmark: Whether the reader learns only what the benchmark lets it, see ``examples``.
    """

    per_population: ClassVar[bool] = True
    reads_briefs: ClassVar[bool] = True

    reader: str = one_of(READERS, "tfidf")
    benchmark: bool = False
    checkpoint: str = ""
    least_confidence: float | None = within(0, 1, None)
    candidates: int = at_least(1, BUDGET.candidates)
    episodes: int = at_least(1, BUDGET.episodes)
    keep: int = at_least(2, BUDGET.keep)
    sweeps: int = at_least(0, BUDGET.sweeps)
    sweep_episodes: int = at_least(1, BUDGET.sweep_episodes)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.checkpoint and self.reader != "tuned":
            raise ValueError(f"checkpoint: {self.checkpoint} is of reader=tuned, not {self.reader}")
        if self.checkpoint and not Path(self.checkpoint).is_dir():
            raise ValueError(
                f"checkpoint: there is no folder {self.checkpoint}; "
                "give the folder `reader` of a run of +experiment=brief_reader"
            )

    def build(self, context: DesignerContext) -> BriefSearch:
        """Train the reader, which takes seconds, and return the designer."""
        reader = make_reader(self.reader, self.benchmark, self.checkpoint, context.load_reader)
        return BriefSearch(BriefSolver(reader, context.market_of, context.seed, self, self.limit))

    @property
    def limit(self) -> float:
        """Return how sure the reader must be."""
        if self.least_confidence is not None:
            return self.least_confidence
        for_people = self.reader == "tuned" and not (self.benchmark or self.checkpoint)
        return LEAST_CONFIDENCE if for_people else 0.0


def make_reader(name: str, benchmark: bool, checkpoint: str, load: LoadReader | None) -> Reader:
    """Return a reader that has learnt the first writer's sentences, see ``BriefSearchSettings``.

    Raises:
        CannotRunError: The weights cannot be had.
    """
    if name == "keywords":
        return KeywordReader(examples(benchmark))
    if name == "tfidf":
        from daedalus.design.briefs.linear_reader import LinearReader  # slow to import

        return LinearReader().fit(examples(benchmark))
    if load is None:
        raise CannotRunError(f"reader: {name} needs PyTorch, which is not at hand; take tfidf")
    return load(name, benchmark, checkpoint)


@dataclass
class BriefSearch:
    """Searches the best mechanism for what it understands of each brief."""

    solver: BriefSolver

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return a mechanism for each of the B goals; the same goal always gets the same one.

        Raises:
            CannotRunError: A goal has no brief.
        """
        goals = list(observations.goals)
        if not all(each.brief for each in goals):
            raise CannotRunError(
                "this designer reads briefs, and here is none; run +experiment=briefs, or choose "
                "designer=search"
            )
        bar = tqdm(goals, desc="searching for briefs", unit="brief", disable=len(goals) < 2)
        understood = (self.solver.understand(each.brief) for each in bar)
        return Mechanisms.stack([self.solver.mechanism(each) for each in understood])

    def understand(self, brief: str) -> Understanding:
        """Return what the reader understands of a brief."""
        return self.solver.understand(brief)
