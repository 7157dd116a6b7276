"""Reads the brief sentence by sentence, then searches with what was understood."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from daedalus.checks import CannotRunError, one_of
from daedalus.design.briefs.readers import KeywordReader, Reader, read
from daedalus.design.briefs.search import BUDGET, search
from daedalus.design.briefs.understanding import Understanding
from daedalus.design.briefs.wordings import examples
from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.design.env import DesignEnv
from daedalus.design.search.budgets import SearchBudget
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observation import Observation

READERS = ("keywords", "tfidf", "minilm")


@dataclass
class BriefSearchSettings(DesignerSettings, SearchBudget):
    """A reader, and the budget of the search behind it.

    Attributes:
        reader: ``keywords``, ``tfidf`` (words and logistic regression) or ``minilm`` (a pretrained
            sentence encoder and logistic regression).
        new_kinds: Whether the reader learns the types of clauses that the benchmark keeps from
            training, too.
    """

    per_population: ClassVar[bool] = True

    reader: str = one_of(READERS, "tfidf")
    new_kinds: bool = True
    candidates: int = BUDGET.candidates
    episodes: int = BUDGET.episodes
    keep: int = BUDGET.keep
    sweeps: int = BUDGET.sweeps
    sweep_episodes: int = BUDGET.sweep_episodes

    def build(self, context: DesignerContext) -> BriefSearch:
        """Train the reader, which takes seconds, and return the designer."""
        return BriefSearch(make_reader(self.reader, self.new_kinds, context), context, self)


def make_reader(name: str, new_kinds: bool, context: DesignerContext) -> Reader:
    """Return a reader that has learnt the first writer's sentences.

    Args:
        name: One of ``READERS``.
        new_kinds: See ``BriefSearchSettings``.
        context: It loads the encoder.

    Raises:
        CannotRunError: The encoder cannot be had.
    """
    if name == "keywords":
        return KeywordReader()
    from daedalus.design.briefs.linear_reader import LinearReader  # slow to import

    if name == "tfidf":
        return LinearReader().fit(examples(new_kinds))
    if context.load_encoder is None:
        raise CannotRunError("reader: minilm needs PyTorch, which is not at hand; take tfidf")
    return LinearReader(context.load_encoder()).fit(examples(new_kinds))


@dataclass
class BriefSearch:
    """Searches the best mechanism for what it understands of each brief.

    Attributes:
        reader: Reads the sentences.
        context: The market that it expects, the seed, and bidders by name.
        budget: Of each search.
    """

    reader: Reader
    context: DesignerContext
    budget: SearchBudget
    _found: dict[str, Mechanism] = field(default_factory=dict)

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return a mechanism for each of the B goals; the same goal always gets the same one."""
        return Mechanisms.stack([self.design(each.brief)[1] for each in observations.goals])

    def design(self, brief: str) -> tuple[Understanding, Mechanism]:
        """Return what was understood of a brief, and the mechanism that suits it best."""
        understood = read(self.reader, brief)
        key = repr((understood.reward, understood.allowed, understood.floors, understood.population))
        if key not in self._found:
            env = self._market(understood.population)
            self._found[key] = search(understood, env, self.context.seed, self.budget)
        return understood, self._found[key]

    def _market(self, population: str) -> DesignEnv:
        """Return the market of the bidders that a brief tells of, or the expected one."""
        if not population:
            return self.context.env
        if self.context.bidders is None:
            raise CannotRunError(f"the brief tells of {population}, and no bidders have this name")
        return self.context.env.with_population(self.context.bidders(population))
