"""Settings of designers, and the context that designers are built from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from daedalus.checks import CannotRunError, Checked
from daedalus.design.briefs.answers import AnswerBriefs
from daedalus.design.briefs.readers import Reader
from daedalus.design.designers.purpose import Purpose
from daedalus.design.env import DesignEnv, Designer
from daedalus.design.language.prompt import Generate, PromptSettings
from daedalus.design.search.space import random_mechanisms
from daedalus.market.mechanism import Mechanisms
from daedalus.market.population import Population
from daedalus.market.seat_plan import SeatPlan
from daedalus.market.seeds import generator

LoadModel = Callable[[str, float, int, bool | None], tuple[Generate[str], PromptSettings]]
"""Returns a model's generate function and the prompt that it was trained on, from
``LanguageModelSettings``: checkpoint, temperature, max_new_tokens and constrained."""

LoadReader = Callable[[str, bool, str], Reader]
"""Returns a reader of briefs, from ``BriefSearchSettings``: reader, benchmark and checkpoint.

It raises ``CannotRunError`` if the weights cannot be had.
"""

LoadBriefModel = Callable[[str, float, bool | None], AnswerBriefs]
"""Returns a model that answers briefs, from ``BriefModelSettings``: checkpoint, temperature and
at_once. It raises ``CannotRunError`` if the weights cannot be had, and ``ValueError`` if the model
was trained to answer otherwise."""


@dataclass(frozen=True)
class DesignerContext:
    """What settings may use to build a designer.

    Attributes:
        env: Where the designer searches, learns or plans, and the reward that it maximises.
        seed: Seed of the run.
        portfolio: Good mechanisms to choose from, or None.
        load_model: Loads a language model. It is passed in, so that this package needs no torch.
        population: Name of the environment's population; None if it has none.
        bidders: Returns bidders by the name of their population, for designers that read of others.
        load_reader: Loads a reader of briefs that needs torch. It is passed in as ``load_model``.
        load_brief_model: Loads a language model that answers briefs, passed in likewise.
    """

    env: DesignEnv
    seed: int
    portfolio: Mechanisms | None = None
    load_model: LoadModel | None = None
    population: str | None = None
    bidders: Callable[[str], Population | SeatPlan] | None = None
    load_reader: LoadReader | None = None
    load_brief_model: LoadBriefModel | None = None

    def market_of(self, population: str) -> DesignEnv:
        """Return the market of the bidders of a population; the environment's own for "".

        Raises:
            CannotRunError: There are no bidders of other names.
        """
        if not population:
            return self.env
        if self.bidders is None:
            raise CannotRunError(f"the brief tells of {population}, and no bidders have this name")
        return self.env.with_population(self.bidders(population))

    def candidates(self, count: int) -> Mechanisms:
        """Return the portfolio, or ``count`` random mechanisms without one; all are allowed."""
        if self.portfolio is not None:
            return self.env.goal.nearest(self.portfolio)
        return random_mechanisms(count, generator(self.seed, "candidates"), goal=self.env.goal)


@dataclass
class DesignerSettings(Checked):
    """Settings of one kind of designer; ``build`` makes the designer.

    Each module of this package defines one subclass. ``conf/designer/`` refers to it by the name
    of the module: ``defaults: [MODULE_schema, _self_]``.

    Attributes:
        name: Label of the designer in tables and figures. It keys the designer's random draws.
    """

    name: str = field(default="designer", kw_only=True)

    per_population: ClassVar[bool] = False
    """Whether the designer is built anew for each population in which it plays."""

    reads_briefs: ClassVar[bool] = False
    """Whether the designer needs a brief, so that it plays in tasks of briefs alone."""

    @property
    def purpose(self) -> Purpose | None:
        """Return what the designer was trained for; None if it was not trained, or nobody knows."""
        return None

    def plays(self, population: str) -> bool:
        """Return whether a leaderboard may build the designer in a population of this name."""
        return True

    def build(self, context: DesignerContext) -> Designer:
        """Return the designer. Some kinds search, learn or load a model first."""
        raise NotImplementedError(f"{type(self).__name__} defines no build(context)")
