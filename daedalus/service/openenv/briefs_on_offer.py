"""Briefs that a reset may give: a visitor's own words, or one of a frozen split."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any

from daedalus.design.briefs.benchmark import Benchmark
from daedalus.design.briefs.clauses import Understanding, both_allow
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.design.briefs.scoring import Verdict
from daedalus.design.briefs.search import BUDGET
from daedalus.design.env import DesignEnv
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.budgets import SearchBudget
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.population_settings import PopulationSettings
from daedalus.service.openenv.errors import FieldError

Understand = Callable[[str], Understanding]
OBJECTIVE = "brief"
"""Name of the objective of an episode with a brief."""
_MARKET = "fresh"  # in which the benchmark was measured, by its name in conf/market


@dataclass(frozen=True)
class Opened:
    """An episode that may begin.

    Attributes:
        env: Its market.
        population: Name of the bidders that a designer expects.
        market: Name of the market.
        told: What its observations tell of the brief.
        judge: What an answer to a brief of the benchmark comes to; None where steps earn rewards.
    """

    env: DesignEnv
    population: str
    market: str
    told: Mapping[str, Any] = field(default_factory=dict)
    judge: Callable[[Mechanism], Verdict] | None = None


@dataclass(frozen=True)
class BriefsOnOffer:
    """What reads briefs, and the bidders that they may tell of.

    Attributes:
        load: Loads a reader, which may take long: returns what understands a brief.
        populations: The bidders that briefs may tell of, by name.
        seed: Seed of the searches for mechanisms.
        budget: Of each of these searches.
    """

    load: Callable[[], Understand]
    populations: Mapping[str, PopulationSettings]
    seed: int = 0
    budget: SearchBudget = field(default_factory=lambda: BUDGET)
    _one_reads: Lock = field(default_factory=Lock, repr=False)
    _ahead: dict[str, Understanding] = field(default_factory=dict, repr=False)

    def hand_over(self, brief: str, understood: Understanding) -> None:
        """Take what was understood of a brief for which ``own`` is asked at once."""
        self._ahead.clear()
        self._ahead[brief] = understood

    def own(self, brief: str, usual: Opened) -> Opened:
        """Return the episode of a visitor's own words.

        Args:
            brief: The words.
            usual: The market, and its bidders if the brief tells of none.

        Raises:
            FieldError: The market cannot play the bidders that the brief tells of, or the server
                forbids all that it asks for of a field.
        """
        ahead = self._ahead.pop(brief, None)
        understood = self.understand(brief) if ahead is None else ahead
        allowed = dict(usual.env.allowed)
        for name, asked in understood.allowed.items():
            both = both_allow(allowed.get(name, asked), asked)
            if both is None:
                raise FieldError("brief", brief, f"it asks for what this service forbids ({name})")
            allowed[name] = both
        env, bidders = self.market(usual.env, understood.population), understood.population
        reward = dict(understood.reward)
        told: dict[str, Any] = {"reward": reward, "floors": dict(understood.floors)}
        told |= {"warnings": understood.warnings_in_play}
        env = replace(env, reward=RewardStack(reward), allowed=allowed, brief=brief)
        return Opened(env, bidders or usual.population, usual.market, {"understood": told})

    def frozen(self, split: str, seed: int) -> Opened:
        """Return the episode of a seed in a frozen split: one step, which is the answer.

        Raises:
            BriefError: The file of the split has changed since it was frozen.
        """
        benchmark = Benchmark(frozen_briefs(split), self._market)
        brief = benchmark.drawn(seed)
        env = self._market(brief.known_population)
        once = replace(env, settings=replace(env.settings, episode_length=1), brief=brief.text)

        def judge(mechanism: Mechanism) -> Verdict:
            return benchmark.judge(brief, mechanism)

        return Opened(once, brief.known_population, _MARKET, {"brief_id": brief.id}, judge)

    def market(self, env: DesignEnv, population: str) -> DesignEnv:
        """Return the market of the bidders that a brief tells of; an episode's own for "".

        Raises:
            FieldError: The market cannot play them, or a language model bids in it.
        """
        if not population:
            return env
        if env.market.players:
            reason = "it tells of bidders, but a language model bids in this market"
            raise FieldError("brief", "…", reason)
        try:
            bidders = self.populations[population].in_market(env.settings.name)
        except ValueError as error:
            raise FieldError("brief", "…", f"it tells of bidders, but {error}") from error
        return env.with_population(bidders)

    def understand(self, brief: str) -> Understanding:
        """Read a brief; one at a time.

        Raises:
            CannotRunError: No reader can be had.
        """
        with self._one_reads:
            return self._reader(brief)

    @cached_property
    def _reader(self) -> Understand:
        return self.load()

    def _market(self, population: str) -> DesignEnv:
        settings = MarketSettings()
        return DesignEnv.of(settings, self.populations[population].in_market(settings.name))


def written(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as a message; what is not known is None."""
    numbers = {"objective": verdict.objective, "score": verdict.score}
    known = {name: each if math.isfinite(each) else None for name, each in numbers.items()}
    return {"broken": list(verdict.broken), **known}
