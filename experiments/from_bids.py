"""From a log of bids to a mechanism: estimate values, design, and report."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from daedalus.design.designers.build import build_all
from daedalus.design.designers.language_model import LanguageModelSettings
from daedalus.design.search.best_fixed import best_fixed
from daedalus.evaluation.episodes import compare
from daedalus.evaluation.run_report import Report
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
from daedalus.lab.bids.figures import densities, reserve_curve, sensitivity_dots, values_over_bids
from daedalus.lab.bids.findings import Findings, reserve_words, reserves_table, verdict_row
from daedalus.lab.bids.log import load_bids
from daedalus.lab.bids.population import population_file, population_of
from daedalus.lab.bids.report import markdown, page, warnings, write_text
from daedalus.launch.config.tasks import FromBids
from daedalus.market.mechanism import Mechanism
from daedalus.market.seeds import generator
from experiments.build import make_context
from experiments.tracked import tracked


def main(config: FromBids, out: Path) -> None:
    """Write the population, report.md, report.html, tables and figures."""
    log = load_bids(config.bids, config.bid_log)
    estimator = Estimator.of(log, config.bid_log)
    with tracked(config, out) as (_, report):
        for note in estimator.log.notes:
            report.say(f"{note.kind}: {note}")
        estimate = estimator.estimate()
        name = log.population
        file = out / "population" / f"{name}.yaml"  # a folder that Hydra can search
        write_text(file, population_file(estimate, estimator.log))
        samples = list(estimator.bootstrap(generator(config.seed, "bids/bootstrap")))
        field = Field(estimate, config.market, config.reward, config.seed)
        held = in_force(estimator)
        changed, others = _designed(config, field, held.mechanism)
        episodes = config.evaluation.episodes
        judged = Judged.of(field, held.mechanism, changed, others, episodes, "judge")
        judgements = _judgements(config, samples, held.mechanism, changed, others)
        confidence = config.evaluation.confidence
        verdict = Verdict.of(held, changed, judged, judgements, estimator, confidence)
        sets = {
            "in force": reserve_words(held.multiple, estimator, estimate),
            "designed": reserve_words(verdict.policy.multiple, estimator, estimate),
        } | {name: each.words for name, each in others.items()}
        findings = Findings(
            estimator,
            estimate,
            verdict,
            _designers(sets, judged, judgements, verdict, confidence),
            fit_by_size(estimator, estimate),
            sensitivity(estimator, estimate, verdict),
            field.played(held, episodes, "judge"),
            config.reward.name,
            field.in_money,
            confidence,
            name,
            diagnose(estimator, estimate, samples, generator(config.seed, "bids/checks")),
        )
        _draw(report, findings, samples, judged, judgements)
        _write(report, findings, out)


def _designed(
    config: FromBids, field: Field, held: Mechanism
) -> tuple[Mechanism, dict[str, Mixture]]:
    """Return the mechanism that the search leads to, and what designers play."""
    rng = generator(config.seed, "search")
    found, _ = best_fixed(config.designer, FieldObjective(field), rng)
    changed = settled(found, held, field, config.designer.sweep_episodes)
    others = {"search": Mixture.of_one(found, field.scale)}
    if config.trained:
        others["trained"] = _trained(config, field)
    return changed, others


def _trained(config: FromBids, field: Field) -> Mixture:
    """Return what a trained model plays in the market of the typical sale."""
    estimate = field.estimate
    env = field.envs[min(field.envs)]
    env = env.with_population(population_of(estimate.values, estimate.typical_bidders))
    checkpoint = str(Path(config.trained) / "model")
    settings = LanguageModelSettings(checkpoint=checkpoint, name="trained")
    designers = build_all({"trained": settings}, make_context(config, env, population="the log"))
    steps = compare(env, designers, config.evaluation.episodes, config.seed)
    return Mixture.of_steps(steps, field.scale)


def _judgements(
    config: FromBids,
    samples: list[Estimate],
    held: Mechanism,
    changed: Mechanism,
    others: dict[str, Mixture],
) -> list[Judged]:
    """Judge mechanisms in the bootstrap samples; in few, if they have to be played."""
    fields = [Field(each, config.market, config.reward, config.seed) for each in samples]
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


def _draw(
    report: Report,
    findings: Findings,
    samples: list[Estimate],
    judged: Judged,
    judgements: list[Judged],
) -> None:
    estimator, estimate, verdict = findings.estimator, findings.estimate, findings.verdict
    confidence = findings.confidence
    if estimate.by_size:
        report.figure(values_over_bids(estimate), "values")
    report.figure(densities(estimate, samples, confidence), "densities")
    report.figure(reserve_curve(verdict, judged, judgements, estimator, confidence), "reserve")
    report.figure(sensitivity_dots(findings.sensitivity, verdict, estimator), "sensitivity")


def _write(report: Report, findings: Findings, out: Path) -> None:
    report.table(findings.designers, "designers")
    report.table(verdict_row(findings), "verdict")
    report.table(reserves_table(findings), "reserves")
    report.table(findings.sensitivity, "sensitivity")
    report.table(findings.checks, "diagnostics")
    slopes = findings.estimate.levels.slopes
    report.table(slopes.rename("coefficient").rename_axis("column").reset_index(), "levels")
    report.show(findings.designers, f"{findings.reward} of a sale")
    report.show(findings.sensitivity, "other assumptions")
    if len(findings.fit):
        report.table(findings.fit, "fit")
        report.show(findings.fit, "by number of bidders")
    names = [path.stem for path in (out / "figures").glob("*.png")]
    text = markdown(findings, {name: f"figures/{name}.png" for name in names})
    write_text(out / "report.md", text)
    for warning in warnings(findings.checks):
        report.say(warning.removeprefix("> ").replace("**", ""))
    write_text(out / "report.html", page(text, f"What to set: {findings.population}", out))
    report.say(f"{out / 'report.html'}: what to set, what it gains, how sure, what was checked")
