"""Compares designers under briefs, in the way of the benchmark: tables and figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache

from tqdm import tqdm

from daedalus.checks import CannotRunError
from daedalus.design.briefs.brief import Brief
from daedalus.design.briefs.scoring import SEED
from daedalus.design.briefs.search import Measured
from daedalus.design.briefs.splits import PAIRS
from daedalus.design.designers.base import DesignerSettings
from daedalus.design.designers.brief_model import BriefModelSettings
from daedalus.design.designers.build import build_all
from daedalus.design.env import DesignEnv, Designer
from daedalus.evaluation.answer_log import AnswerLog
from daedalus.evaluation.run_report import Report
from daedalus.lab.studies.briefs import (
    Markets,
    by_clause,
    by_pair,
    leads,
    proposals,
    scores,
    summarised,
)
from daedalus.launch.comparison import keep_answers
from daedalus.launch.config.tasks import Briefs, GrpoBriefs
from daedalus.launch.from_config import bidders_named, make_context
from daedalus.market.interface import MarketSettings
from daedalus.runs.phases import EVALUATION, phase


def markets_of(market: MarketSettings) -> Markets:
    """Return what makes the market of a population by its name."""

    @cache
    def of(population: str) -> DesignEnv:
        return DesignEnv.of(market, bidders_named(market)(population))

    return of


def compare_under_briefs(
    config: Briefs | GrpoBriefs,
    briefs: Mapping[str, Sequence[Brief]],
    markets: Markets,
    settings: Mapping[str, DesignerSettings],
    report: Report,
) -> None:
    """Let designers design under briefs; write tables (briefs.csv, summary.csv, …) and figures.

    Args:
        config: The task; briefs are scored in the same futures whatever its seed is.
        briefs: The briefs by split.
        markets: Returns markets by population.
        settings: Settings of the designers that are compared with the baselines.
        report: It shows and writes.

    Raises:
        CannotRunError: A shuffled designer has no other brief to answer.
    """
    from daedalus.lab.studies.briefs_figures import clause_map, split_scores  # slow to import

    chosen = {**config.evaluation.baselines, **settings}

    @cache
    def designers(population: str) -> Mapping[str, Designer]:
        context = make_context(config, markets(population), population=population)
        return build_all(chosen, context)

    confidence = config.evaluation.confidence
    asked = [each for group in briefs.values() for each in group]
    _require_others(asked, chosen)
    measured = _with_ends(asked, markets, report)
    split_of = {each.id: name for name, group in briefs.items() for each in group}
    logs: list[AnswerLog] = []
    with phase(EVALUATION):
        given = proposals(measured, markets, designers, config.seed, logs)
        table = scores(given, markets, SEED, lambda each: split_of[each.id])
    keep_answers(logs, report)
    summary = summarised(table, confidence)
    report.table(table, "briefs")
    title = "score: 0 if a rule is broken, else from chance (0) to search (1)"
    report.table(summary, "summary", title)
    report.table(leads(table, confidence), "leads")
    if clauses := [each for each in measured if each.clauses]:
        report.say(f"{len(clauses)} briefs say which clauses they are made of")
        kinds = by_clause([each for each in given if each.brief.clauses], table)
        report.table(kinds, "clauses")
        if kinds["read"].notna().any():
            report.figure(clause_map(kinds), "clauses")
    if PAIRS in briefs:
        twins = [each for each in given if split_of[each.brief.id] == PAIRS]
        report.table(by_pair(twins, table), "pairs")
    report.figure(split_scores(summary, confidence), "scores")


def _require_others(briefs: Sequence[Brief], designers: Mapping[str, DesignerSettings]) -> None:
    """Refuse a shuffled designer where the bidders of a brief are those of no other one."""
    numbers = Counter(each.known_population for each in briefs)
    alone = [population for population, number in numbers.items() if number == 1]
    for name, each in designers.items():
        if alone and isinstance(each, BriefModelSettings) and each.shuffled:
            raise CannotRunError(
                f"shuffled: {name} answers another brief with the same bidders, and there is one "
                f"brief alone for {alone[0]}; give several, or leave shuffled out"
            )


def _with_ends(briefs: Sequence[Brief], markets: Markets, report: Report) -> list[Brief]:
    """Return briefs with the ends of their scores, and say of which they cannot be measured."""
    missing = [each for each in briefs if not each.scale]
    if not missing:
        return list(briefs)
    measure = Measured({each.population: markets(each.population) for each in missing})
    bar = tqdm(missing, desc="searching with the true parts", unit="brief")
    found = {each.id: measure(each) or each for each in bar}
    for each in missing:
        if why := measure.why_none(each):
            place = f"{each.place}: " if each.place else ""
            report.say(f"{place}no score for {each.id}: {why}; rules are checked all the same")
    return [found.get(each.id, each) for each in briefs]
