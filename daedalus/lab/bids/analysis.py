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
from daedalus.lab.bids.design import (
    PLAYED,
    Field,
    FieldObjective,
    Judged,
    Mixture,
    Verdict,
    in_force,
    interval_of,
    place_of,
    settled,
)
from daedalus.lab.bids.diagnostics import diagnose
from daedalus.lab.bids.estimates import Estimate, Estimator
from daedalus.lab.bids.findings import Findings, reserve_words
from daedalus.market.interface import MarketSettings
from daedalus.market.mechanism import Mechanism
from daedalus.market.seeds import generator

Others = Callable[["Field"], Mapping[str, Mixture]]
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
        judged: Results of the mechanisms under the estimate.
        judgements: The same in the samples; in few of them, if mechanisms have to be played.
    """

    findings: Findings
    samples: list[Estimate]
    judged: Judged
    judgements: list[Judged]


def analyse(estimator: Estimator, plan: Plan, others: Others = lambda _: {}) -> Analysis:
    """Estimate the values behind a log, design a mechanism for them, judge and check it.

    Args:
        estimator: The log, and how values are estimated from it.
        plan: How the mechanism is designed and judged.
        others: Designers that are judged beside the search.
    """
    estimate, seed = estimator.estimate(), plan.seed
    samples = list(estimator.bootstrap(generator(seed, "bids/bootstrap")))
    field = _field(estimate, plan)
    held = in_force(estimator)
    found, _ = best_fixed(plan.search, FieldObjective(field), generator(seed, "search"))
    changed = settled(found, held.mechanism, field, plan.search.sweep_episodes)
    played = {"search": Mixture.of_one(found, field.scale), **others(field)}
    judged = Judged.of(field, held.mechanism, changed, played, plan.episodes, "judge")
    judgements = _judgements(samples, plan, held.mechanism, changed, played)
    verdict = Verdict.of(held, changed, judged, judgements, estimator, plan.confidence)
    sets = {
        "in force": reserve_words(held.multiple, estimator, estimate),
        "designed": reserve_words(verdict.policy.multiple, estimator, estimate),
    } | {name: each.words for name, each in played.items()}
    findings = Findings(
        estimator,
        estimate,
        verdict,
        _designers(sets, judged, judgements, verdict, plan.confidence),
        fit_by_size(estimator, estimate),
        sensitivity(estimator, estimate, verdict),
        field.played(held, plan.episodes, "judge"),
        plan.reward.name,
        field.in_money,
        plan.confidence,
        estimator.log.population,
        diagnose(estimator, estimate, samples, generator(seed, "bids/checks")),
    )
    return Analysis(findings, samples, judged, judgements)


def _field(estimate: Estimate, plan: Plan) -> Field:
    return Field(estimate, plan.market, plan.reward, plan.seed)


def _judgements(
    samples: list[Estimate],
    plan: Plan,
    held: Mechanism,
    changed: Mechanism,
    others: dict[str, Mixture],
) -> list[Judged]:
    """Judge mechanisms in the bootstrap samples; in few, if they have to be played."""
    fields = [_field(each, plan) for each in samples]
    exact = all(fields[0].is_exact(each) for each in (held, changed))
    chosen = fields if exact else fields[:PLAYED]
    progress = tqdm(chosen, "judging", leave=False, disable=None)
    return [
        Judged.of(field, held, changed, others, 1, f"judge/{number}")
        for number, field in enumerate(progress)
    ]


def _designers(
    sets: dict[str, str], judged: Judged, samples: list[Judged], verdict: Verdict, confidence: float
) -> pd.DataFrame:
    """Return a row for each designer: what it sets, what that brings, and its gain."""
    at, now = place_of(verdict.policy.multiple), place_of(verdict.held.multiple)
    every = [judged, *samples]
    results = {
        "in force": [each.held[now] for each in every],
        "designed": [each.changed[at] for each in every],
    } | {name: [each.others[name] for each in every] for name in judged.others}
    table = []
    for name, rewards in results.items():
        gains = np.array(rewards) - results["in force"]
        low, high = interval_of(list(gains[1:]), confidence)
        table.append(
            {"designer": name, "sets": sets[name], "result": float(rewards[0])}
            | {"gain": float(gains[0]), "gain_low": low, "gain_high": high}
        )
    return pd.DataFrame(table)
