"""From a log of bids to what a report tells: estimate, design, judge, check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.best_fixed import best_fixed
from daedalus.design.search.budgets import SearchBudget
from daedalus.lab.bids.assumptions import fit_by_size, sensitivity
from daedalus.lab.bids.diagnostics import diagnose
from daedalus.lab.bids.estimator import Estimate, Estimator
from daedalus.lab.bids.findings import Findings, designers_table, reserve_words
from daedalus.lab.bids.verdict import (
    EstimatedMarkets,
    Judgement,
    MarketsObjective,
    Mixture,
    Verdict,
    judgements_in,
    policy_in_force,
    without_idle_changes,
)
from daedalus.market.interface import MarketSettings
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
    """

    market: MarketSettings
    reward: RewardStack
    search: SearchBudget
    episodes: int
    confidence: float
    seed: int


@dataclass(frozen=True)
class Analysis:
    """What is found in a log, and the samples behind its intervals, which figures show.

    Attributes:
        findings: What a report tells.
        samples: The bootstrap's estimates.
        judgement: Results of the mechanisms under the estimate.
        judgements: The same in the samples; in few of them, if mechanisms have to be played.
    """

    findings: Findings
    samples: list[Estimate]
    judgement: Judgement
    judgements: list[Judgement]


def analyse(estimator: Estimator, plan: Plan, others: Others = lambda _: {}) -> Analysis:
    """Estimate the values behind a log, design a mechanism for them, judge and check it.

    Args:
        estimator: The log, and how values are estimated from it.
        plan: How the mechanism is designed and judged.
        others: Designers that are judged beside the search.
    """
    estimate, seed = estimator.estimate(), plan.seed
    samples = list(estimator.bootstrap(generator(seed, "bids/bootstrap")))
    markets, *sampled = (
        EstimatedMarkets(each, plan.market, plan.reward, seed) for each in (estimate, *samples)
    )
    found, _ = best_fixed(plan.search, MarketsObjective(markets), generator(seed, "search"))
    played = {"search": Mixture.of_one(found, markets.scale), **others(markets)}
    in_force = policy_in_force(estimator)
    designed = without_idle_changes(found, in_force.mechanism, markets, plan.search.sweep_episodes)
    judgement = Judgement.of(markets, in_force.mechanism, designed, played, plan.episodes, "judge")
    in_market = markets.played(in_force, plan.episodes, "judge")
    judgements = judgements_in(sampled, in_force.mechanism, designed, played)
    verdict = Verdict.of(in_force, designed, judgement, judgements, estimator, plan.confidence)
    sets = {
        "in force": reserve_words(in_force.multiple, estimator, estimate),
        "designed": reserve_words(verdict.policy.multiple, estimator, estimate),
    } | {name: each.words for name, each in played.items()}
    findings = Findings(
        estimator,
        estimate,
        verdict,
        designers_table(sets, judgement, judgements, verdict, plan.confidence),
        fit_by_size(estimator, estimate),
        sensitivity(estimator, estimate, verdict),
        in_market,
        plan.reward.name,
        markets.in_money,
        plan.confidence,
        estimator.log.population,
        diagnose(estimator, estimate, samples, generator(seed, "bids/checks")),
    )
    return Analysis(findings, samples, judgement, judgements)
