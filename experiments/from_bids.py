"""From a log of bids to a mechanism: estimate values, design, and report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from daedalus.design.briefs.clauses import Understanding
from daedalus.design.designers.build import build_all
from daedalus.design.designers.language_model import LanguageModelSettings
from daedalus.evaluation.episodes import compare
from daedalus.evaluation.run_report import Report
from daedalus.lab.bids.analysis import Plan, analyse
from daedalus.lab.bids.estimated_population import population_file, population_of
from daedalus.lab.bids.estimator import Estimator
from daedalus.lab.bids.figures import figures_of
from daedalus.lab.bids.findings import Findings, reserves_table, rules_table
from daedalus.lab.bids.log import load_bids
from daedalus.lab.bids.report import go_on, markdown, page, warnings
from daedalus.lab.bids.verdict import EstimatedMarkets, Mixture
from daedalus.launch.brief_answer import brief_text, load_understanding
from daedalus.launch.config.tasks import FromBids
from daedalus.launch.from_config import load_reader, make_context
from daedalus.launch.tracked import tracked
from daedalus.runs.files import write_text


def main(config: FromBids, out: Path) -> None:
    """Write the population, report.md, report.html, tables and figures."""
    log = load_bids(config.bids, config.bid_log)
    estimator = Estimator.of(log, config.bid_log)
    with tracked(config, out) as (_, report):
        for note in estimator.log.notes:
            report.say(f"{note.kind}: {note.text}")
        plan = replace(plan_of(config), understood=_understood(config))
        findings = analyse(estimator, plan, lambda markets: _trained(config, markets))
        file = out / "population" / f"{log.population}.yaml"  # a folder that Hydra can search
        write_text(file, population_file(findings.estimate, estimator.log))
        _write(report, findings, out)


def plan_of(config: FromBids) -> Plan:
    """Return how the mechanism is designed and judged."""
    evaluation = config.evaluation
    return Plan(
        config.market,
        config.reward,
        config.designer,
        evaluation.episodes,
        evaluation.confidence,
        config.seed,
    )


def _understood(config: FromBids) -> Understanding | None:
    """Return what the brief asks for, if there is one."""
    if not config.brief:
        return None
    return load_understanding(load_reader)(brief_text(config.brief))


def _trained(config: FromBids, markets: EstimatedMarkets) -> Mapping[str, Mixture]:
    """Return what a trained model, if there is one, plays in the market of the typical sale."""
    if not config.trained:
        return {}
    estimate = markets.estimate
    env = markets.envs[min(markets.envs)]
    env = env.with_population(population_of(estimate.values, estimate.typical_bidders))
    checkpoint = str(Path(config.trained) / "model")
    settings = LanguageModelSettings(checkpoint=checkpoint, name="trained")
    designers = build_all({"trained": settings}, make_context(config, env, population="the log"))
    steps = compare(env, designers, config.evaluation.episodes, config.seed)
    return {"trained": Mixture.of_steps(steps, markets.scale)}


def _write(report: Report, findings: Findings, out: Path) -> None:
    for name, figure in figures_of(findings).items():
        report.figure(figure, name)
    report.table(findings.designers, "designers", f"{findings.reward} of a sale")
    report.table(reserves_table(findings), "reserves")
    report.table(findings.sensitivity, "sensitivity", "other assumptions")
    report.table(findings.checks, "diagnostics")
    slopes = findings.estimate.levels.slopes
    report.table(slopes.rename("coefficient").rename_axis("column").reset_index(), "levels")
    if findings.brief is not None:
        title = "the brief: what it rules here, and what that costs in a sale"
        report.table(rules_table(findings.brief), "rules", title)
    if len(findings.fit):
        report.table(findings.fit, "fit", "by number of bidders")
    names = [path.stem for path in (out / "figures").glob("*.png")]
    text = markdown(findings, {name: f"figures/{name}.png" for name in names}, go_on(findings))
    write_text(out / "report.md", text)
    for warning in warnings(findings.checks):
        report.say(warning.removeprefix("> ").replace("**", ""))
    title = f"What to set: {findings.estimator.log.population}"
    write_text(out / "report.html", page(text, title, out))
    report.say(f"{out / 'report.html'}: what to set, what it gains, how sure, what was checked")
