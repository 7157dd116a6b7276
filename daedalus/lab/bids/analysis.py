"""From a log of bids to what a report tells: estimate, design, judge, check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from daedalus.design.briefs.clauses import Clause, Understanding, says
from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.best_fixed import best_fixed
from daedalus.design.search.budgets import SearchBudget
from daedalus.lab.bids.assumptions import fit_by_size, sensitivity
from daedalus.lab.bids.brief_rules import BriefFindings, BriefRules, RuleCost
from daedalus.lab.bids.diagnostics import diagnose
from daedalus.lab.bids.estimator import Estimator
from daedalus.lab.bids.findings import Findings, designers_table, reserve_words
from daedalus.lab.bids.verdict import (
    EstimatedMarkets,
    Judgement,
    Mixture,
    Policy,
    Verdict,
    ends_of,
    judgements_in,
    place_of,
    policy_in_force,
    without_idle_changes,
)
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism, Mechanisms
from daedalus.market.seeds import generator

Others = Callable[["EstimatedMarkets"], Mapping[str, Mixture]]
"""What other designers play in the field of a log, by their names."""


@dataclass(frozen=True)
class Plan:
    """How a mechanism is designed for the bidders of a log, and judged.

    Attributes:
        market: The market in which mechanisms are played.
        reward: What the seller wants.
        search: Budget of the search.
        episodes: Episodes in which a mechanism is played, if its result has no formula.
        confidence: Confidence of the intervals.
        seed: Seed of all draws.
        understood: What a brief asks for; None without a brief.
    """

    market: MarketSettings
    reward: RewardStack
    search: SearchBudget
    episodes: int
    confidence: float
    seed: int
    understood: Understanding | None = None

    @property
    def rules(self) -> BriefRules:
        """Return the rules of the brief that hold for sales of a log."""
        return BriefRules(self.understood or Understanding(), self.reward.active)


def analyse(estimator: Estimator, plan: Plan, others: Others = lambda _: {}) -> Findings:
    """Estimate the values behind a log, design a mechanism for them, judge and check it."""
    estimate, seed = estimator.estimate(), plan.seed
    samples = list(estimator.bootstrap(generator(seed, "bids/bootstrap")))
    markets, *sampled = (
        EstimatedMarkets(each, plan.market, plan.reward, seed) for each in (estimate, *samples)
    )
    rules, in_force = plan.rules, policy_in_force(estimator)
    found, designed = _designed(plan, rules, markets, in_force)
    played = {"search": Mixture.of_one(found, markets.scale), **others(markets)}
    judgement = Judgement.of(markets, in_force.mechanism, designed, played, plan.episodes, "judge")
    judgements = judgements_in(sampled, in_force.mechanism, designed, played)
    breaks = any(not rules.keeps(each, in_force, markets) for each in rules.clauses)
    verdict = Verdict.of(
        in_force, designed, judgement, judgements, estimator, plan.confidence,
        rules.permitted(markets), breaks,
    )  # fmt: skip
    costs = [_cost(each, plan, markets, sampled, verdict) for each in rules.clauses]
    sets = {
        "in force": reserve_words(in_force.multiple, estimator, estimate),
        "designed": reserve_words(verdict.policy.multiple, estimator, estimate),
    } | {name: each.words for name, each in played.items()}
    return Findings(
        estimator,
        estimate,
        samples,
        verdict,
        judgement,
        judgements,
        designers_table(sets, judgement, judgements, verdict, plan.confidence),
        fit_by_size(estimator, estimate),
        sensitivity(estimator, estimate, verdict),
        plan.reward.name,
        markets.in_money,
        plan.confidence,
        diagnose(estimator, estimate, samples, generator(seed, "bids/checks")),
        None if plan.understood is None else BriefFindings(costs, rules.unused),
    )


def _designed(
    plan: Plan, rules: BriefRules, markets: EstimatedMarkets, in_force: Policy
) -> tuple[Mechanism, Mechanism]:
    """Return what a search finds among what rules allow, and that without idle changes."""
    rng = generator(plan.seed, "search")
    objective = partial(markets.scores, purpose="search")
    found, _ = best_fixed(plan.search, objective, rng, rules.goal)
    near = rules.goal.nearest(Mechanisms.stack([in_force.mechanism]))[0]
    return found, without_idle_changes(found, near, markets, plan.search.sweep_episodes)


def _cost(
    clause: Clause,
    plan: Plan,
    markets: EstimatedMarkets,
    sampled: list[EstimatedMarkets],
    verdict: Verdict,
) -> RuleCost:
    """Return what the best policy without a rule brings more than that with all of them."""
    rules, mechanism = plan.rules, verdict.policy.mechanism
    rest = rules.without(clause)
    _, free = _designed(plan, rest, markets, verdict.in_force)
    judged = Judgement.of(markets, mechanism, free, {}, plan.episodes, "judge")
    at, permitted = place_of(verdict.policy.multiple), rest.permitted(markets)
    best = int(np.argmax(np.where(permitted, judged.designed, -np.inf)))

    def cost_of(each: Judgement) -> float:
        return float(each.designed[best] - each.in_force[at])

    samples = judgements_in(sampled, mechanism, free, {})
    low, high = map(float, ends_of(samples, cost_of, plan.confidence))
    return RuleCost(
        clause.sentence,
        says(clause, rules.understood.population),
        "kept" if rules.keeps(clause, verdict.in_force, markets) else "broken",
        cost_of(judged),
        low,
        high,
    )
