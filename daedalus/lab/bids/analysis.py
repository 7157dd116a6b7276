"""From a log of bids to what a report tells: estimate, design, judge, check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from tqdm import tqdm

from daedalus.design.rewards.stack import RewardStack
from daedalus.design.search.best_fixed import best_fixed
from daedalus.design.search.budgets import SearchBudget
from daedalus.lab.bids.assumptions import fit_by_size, sensitivity
from daedalus.lab.bids.diagnostics import diagnose
from daedalus.lab.bids.estimator import Estimate, Estimator
from daedalus.lab.bids.findings import Findings, reserve_words
from daedalus.lab.bids.verdict import (
    PLAYED,
    EstimatedMarkets,
    Judgement,
    MarketsObjective,
    Mixture,
    Verdict,
    interval_of,
    place_of,
    policy_in_force,
    without_idle_changes,
)
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
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
    markets = _markets(estimate, plan)
    in_force = policy_in_force(estimator)
    found, _ = best_fixed(plan.search, MarketsObjective(markets), generator(seed, "search"))
    designed = without_idle_changes(found, in_force.mechanism, markets, plan.search.sweep_episodes)
    played = {"search": Mixture.of_one(found, markets.scale), **others(markets)}
    judgement = Judgement.of(markets, in_force.mechanism, designed, played, plan.episodes, "judge")
    judgements = _judgements(samples, plan, in_force.mechanism, designed, played)
    verdict = Verdict.of(in_force, designed, judgement, judgements, estimator, plan.confidence)
    sets = {
        "in force": reserve_words(in_force.multiple, estimator, estimate),
        "designed": reserve_words(verdict.policy.multiple, estimator, estimate),
    } | {name: each.words for name, each in played.items()}
    findings = Findings(
        estimator,
        estimate,
        verdict,
        _designers(sets, judgement, judgements, verdict, plan.confidence),
        fit_by_size(estimator, estimate),
        sensitivity(estimator, estimate, verdict),
        markets.played(in_force, plan.episodes, "judge"),
        plan.reward.name,
        markets.in_money,
        plan.confidence,
        estimator.log.population,
        diagnose(estimator, estimate, samples, generator(seed, "bids/checks")),
    )
    return Analysis(findings, samples, judgement, judgements)


def _markets(estimate: Estimate, plan: Plan) -> EstimatedMarkets:
    return EstimatedMarkets(estimate, plan.market, plan.reward, plan.seed)


def _judgements(
    samples: list[Estimate],
    plan: Plan,
    in_force: Mechanism,
    designed: Mechanism,
    others: dict[str, Mixture],
) -> list[Judgement]:
    """Judge mechanisms in the bootstrap samples; in few, if they have to be played."""
    sampled = [_markets(each, plan) for each in samples]
    exact = all(sampled[0].is_exact(each) for each in (in_force, designed))
    chosen = sampled if exact else sampled[:PLAYED]
    progress = tqdm(chosen, "judging", leave=False, disable=None)
    return [
        Judgement.of(markets, in_force, designed, others, 1, f"judge/{number}")
        for number, markets in enumerate(progress)
    ]


def _designers(
    sets: dict[str, str],
    judgement: Judgement,
    samples: list[Judgement],
    verdict: Verdict,
    confidence: float,
) -> pd.DataFrame:
    """Return a row for each designer: what it sets, what that brings, and its gain."""
    at, now = place_of(verdict.policy.multiple), place_of(verdict.in_force.multiple)
    every = [judgement, *samples]
    results = {
        "in force": [each.in_force[now] for each in every],
        "designed": [each.designed[at] for each in every],
    } | {name: [each.others[name] for each in every] for name in judgement.others}
    table = []
    for name, rewards in results.items():
        gains = np.array(rewards) - results["in force"]
        low, high = interval_of(list(gains[1:]), confidence)
        table.append(
            {"designer": name, "sets": sets[name], "result": float(rewards[0])}
            | {"gain": float(gains[0]), "gain_low": low, "gain_high": high}
        )
    return pd.DataFrame(table)
