"""From a brief to a mechanism: read, search, and say what each rule costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from daedalus.design.briefs.clauses import Clause, Understanding, rules_of, understand
from daedalus.design.briefs.readers import Reader, read
from daedalus.design.briefs.scoring import EPISODES, TERMS, mean_terms, objective
from daedalus.design.briefs.search import BUDGET, search
from daedalus.design.env import DesignEnv
from daedalus.design.search.budgets import SearchBudget
from daedalus.market.goal import Goal
from daedalus.market.mechanism import Mechanism, Mechanisms

Market = Callable[[str], DesignEnv]
"""Returns the market of bidders by the name of their population; the expected one for ""."""


@dataclass(frozen=True)
class Rule:
    """A rule that was understood.

    Attributes:
        clause: The sentence, and its meaning.
        kept: Whether the mechanism keeps it; floors are measured on new futures.
        price: What it costs: the objective that a search reaches without it, less that with it.
            NaN if it was not asked for. Below 0 it is chance.
    """

    clause: Clause
    kept: bool
    price: float


@dataclass(frozen=True)
class Answer:
    """The answer to a brief.

    Attributes:
        understood: What was understood, what could not be used, and what excludes each other.
        mechanism: The mechanism.
        rules: The rules, in the order of the sentences.
        terms: Mean of each reward term over new futures.
        objective: Mean of what is maximised, over the same futures.
    """

    understood: Understanding
    mechanism: Mechanism
    rules: tuple[Rule, ...]
    terms: dict[str, float]
    objective: float


@dataclass
class BriefSolver:
    """Reads briefs and searches the best mechanism for what it understands.

    Attributes:
        reader: It reads the sentences; None if others have read them.
        market: Returns the market of the bidders that a brief tells of.
        seed: Seed of the searches.
        budget: Of each search, about a second by default.
        least_confidence: See ``read``.
    """

    reader: Reader | None
    market: Market
    seed: int = 0
    budget: SearchBudget = field(default_factory=lambda: BUDGET)
    least_confidence: float = 0.0
    _found: dict[str, Mechanism] = field(default_factory=dict, repr=False)

    def understand(self, brief: str) -> Understanding:
        """Return what a brief asks for."""
        assert self.reader is not None
        return read(self.reader, brief, self.least_confidence)

    def mechanism(self, understood: Understanding) -> Mechanism:
        """Return the best mechanism found; that of the same understanding is always the same."""
        if understood.key not in self._found:
            env = self.market(understood.population)
            self._found[understood.key] = search(understood, env, self.seed, self.budget)
        return self._found[understood.key]

    def answer(self, understood: Understanding, prices: bool = False) -> Answer:
        """Return the mechanism, and whether it keeps each rule.

        If prices are asked for, a search for each rule finds what it costs.
        """
        mechanism = self.mechanism(understood)
        terms = self._terms(mechanism, understood)
        reached = self._objective(terms, understood)
        rules = []
        for each in understood.clauses:
            if rules_of(each, understood.population) or each.parts.floor:
                price = self._price(each, understood, reached) if prices else np.nan
                rules.append(Rule(each, _keeps(each, understood, mechanism, terms), price))
        named = dict(zip(TERMS, terms.tolist(), strict=True))
        return Answer(understood, mechanism, tuple(rules), named, reached)

    def _price(self, clause: Clause, understood: Understanding, reached: float) -> float:
        rest = understand([each for each in understood.clauses if each is not clause])
        free = self.mechanism(rest)
        return self._objective(self._terms(free, understood), understood) - reached

    def _terms(self, mechanism: Mechanism, understood: Understanding) -> NDArray[np.float64]:
        env = self.market(understood.population)
        played = Mechanisms.stack([mechanism])
        return np.asarray(mean_terms(env, played, EPISODES, self.seed)[0])

    def _objective(self, terms: NDArray[np.float64], understood: Understanding) -> float:
        return float(objective(terms[None], understood.reward)[0])


def answer_in(env: DesignEnv, understood: Understanding, seed: int, budget: SearchBudget) -> Answer:
    """Return the answer in the market of the bidders that a brief tells of, see ``BriefSolver``."""
    return BriefSolver(None, lambda _: env, seed, budget).answer(understood)


def priced_in(env: DesignEnv, answer: Answer, seed: int, budget: SearchBudget) -> Answer:
    """Return an answer of ``answer_in`` with prices; its own mechanism is not searched again."""
    found = {answer.understood.key: answer.mechanism}
    solver = BriefSolver(None, lambda _: env, seed, budget, _found=found)
    return solver.answer(answer.understood, prices=True)


def _keeps(
    clause: Clause, understood: Understanding, mechanism: Mechanism, terms: NDArray[np.float64]
) -> bool:
    allowed = Goal({}, rules_of(clause, understood.population)).admits(mechanism)
    floor = clause.parts.floor
    if not floor or clause.amount is None:
        return allowed
    return allowed and bool(terms[TERMS.index(floor)] >= clause.amount)
