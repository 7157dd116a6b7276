"""A language model that reads a brief and then sets the mechanism, or leaves that to a search."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from daedalus.checks import CannotRunError, at_least
from daedalus.design.briefs.answers import AnswerBriefs, mechanism_in, understood_in
from daedalus.design.briefs.clauses import Understanding
from daedalus.design.briefs.solver import BriefSolver
from daedalus.design.designers.base import DesignerContext, DesignerSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.observation import Observation


@dataclass
class BriefModelSettings(DesignerSettings):
    """Settings of a language model that designs from briefs.

    Attributes:
        checkpoint: The ``model`` folder of a run of grpo_briefs; or ``model.pretrained``'s words
            for a model that nobody trained, which answers under the same constraint.
        temperature: Sampling temperature; 0 decodes greedily.
        at_once: Whether an untrained model sets the mechanism without saying what it read. None
            does what the model was trained to do.
        search: Whether a search sets the mechanism for what the model has read.
        shuffled: Whether each brief is answered as if it were another one, to see what reading is
            worth.
    """

    per_population: ClassVar[bool] = True
    reads_briefs: ClassVar[bool] = True

    checkpoint: str = ""
    temperature: float = at_least(0, 0.0)
    at_once: bool | None = None
    search: bool = False
    shuffled: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.checkpoint:
            raise ValueError(
                "checkpoint: give the `model` folder of a run of grpo_briefs, or what "
                "model.pretrained may be"
            )

    def build(self, context: DesignerContext) -> BriefModel:
        """Load the model and return the designer.

        Raises:
            CannotRunError: There is no such model, or the context loads none.
        """
        if context.load_brief_model is None:
            raise CannotRunError("brief_model: it needs PyTorch, which is not at hand")
        ask = context.load_brief_model(self.checkpoint, self.temperature, self.at_once)
        if self.search and ask.at_once:
            raise CannotRunError("search: this model does not say what it reads; set search: false")
        solver = BriefSolver(None, context.market_of, context.seed) if self.search else None
        return BriefModel(ask, solver, self.shuffled)


@dataclass
class BriefModel:
    """A language model as a designer that reads briefs.

    Attributes:
        ask: The model.
        solver: It searches for what the model reads; None leaves the mechanism to the model.
        shuffled: Whether each brief is answered as another one.
        read: What was understood of each brief, if the model says it.
    """

    ask: AnswerBriefs
    solver: BriefSolver | None = None
    shuffled: bool = False
    read: dict[str, Understanding] = field(default_factory=dict)

    def propose(self, observations: Observation, rng: np.random.Generator) -> Mechanisms:
        """Return a mechanism for each of the B goals.

        Raises:
            CannotRunError: A goal has no brief.
        """
        briefs = [each.brief for each in observations.goals]
        if not all(each.strip() for each in briefs):
            raise CannotRunError("this designer reads briefs; run +experiment=briefs")
        asked = self._others(briefs) if self.shuffled else briefs
        answers = self.ask(asked, rng)
        found = zip(briefs, asked, answers, strict=True)
        return Mechanisms.stack([self._mechanism(*each) for each in found])

    def _others(self, briefs: list[str]) -> list[str]:
        """Return another brief for each, far away in order: neighbours may be minimal pairs."""
        half = len(briefs) // 2
        if not half:
            raise CannotRunError("shuffled: there is one brief; give several")
        return briefs[half:] + briefs[:half]

    def understand(self, brief: str) -> Understanding | None:
        """Return what was understood of a brief that was proposed for; None if nobody said."""
        return self.read.get(brief)

    def _mechanism(self, brief: str, asked: str, answer: str) -> Mechanism:
        if self.ask.at_once:
            return mechanism_in(answer)
        self.read[brief] = understood_in(answer, asked)
        return self.solver.mechanism(self.read[brief]) if self.solver else mechanism_in(answer)
