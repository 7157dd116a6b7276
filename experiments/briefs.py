"""Compare designers under briefs: frozen ones of the benchmark, or those of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from tqdm import tqdm

from daedalus.design.briefs.brief import Brief, read_briefs
from daedalus.design.briefs.ends import Measured
from daedalus.design.briefs.frozen import frozen_briefs
from daedalus.design.briefs.scoring import SEED
from daedalus.design.designers.build import build_all
from daedalus.design.env import DesignEnv, Designer
from daedalus.lab.studies.briefs import Markets, by_clause, proposals, scores, summarised
from daedalus.lab.studies.briefs_figures import clause_map, split_scores
from daedalus.launch.config.tasks import Briefs
from daedalus.launch.from_config import bidders_named, make_context
from daedalus.launch.tracked import tracked
from daedalus.runs.phases import EVALUATION, phase


def main(config: Briefs, out: Path) -> None:
    """Let all designers design under all briefs; write briefs.csv, summary.csv and figures."""
    markets = _markets(config)
    briefs = _chosen(config, markets)
    with tracked(config, out) as (_, report):
        measured = _with_ends([each for group in briefs.values() for each in group], markets)
        if without := [each.id for each in measured if not each.scale]:
            report.say(
                f"no score for {', '.join(without)}: a search with the true parts breaks a floor "
                "there, or is no better than chance; rules are checked all the same"
            )
        split_of = {each.id: name for name, group in briefs.items() for each in group}

        @cache
        def designers(population: str) -> Mapping[str, Designer]:
            context = make_context(config, markets(population), population=population)
            settings = config.evaluation.baselines | {config.designer.name: config.designer}
            return build_all(settings, context)

        with phase(EVALUATION):
            given = proposals(measured, markets, designers, config.seed)
            table = scores(given, markets, SEED, lambda each: split_of[each.id])
        summary = summarised(table, config.evaluation.confidence)
        report.table(table, "briefs")
        report.table(summary, "summary")
        report.show(summary, "score: 0 if a rule is broken, else from chance (0) to search (1)")
        if clauses := [each for each in measured if each.clauses]:
            report.say(f"{len(clauses)} briefs say which clauses they are made of")
            kinds = by_clause([each for each in given if each.brief.clauses], table)
            report.table(kinds, "clauses")
            if kinds["read"].notna().any():
                report.figure(clause_map(kinds), "clauses")
        report.figure(split_scores(summary, config.evaluation.confidence), "scores")


def _chosen(config: Briefs, markets: Markets) -> dict[str, Sequence[Brief]]:
    """Return the briefs by split; those of a file are a split of its name.

    Raises:
        BriefError: The file cannot be read, or a line of it is no brief that can be played.
    """

    def check(brief: Brief) -> None:
        for name in (brief.population, brief.known_population):
            markets(name)

    most = config.evaluation.episodes
    if config.briefs:
        path = Path(config.briefs)
        return {path.stem: read_briefs(path, check)[:most]}
    return {name: frozen_briefs(name)[:most] for name in config.splits}


def _markets(config: Briefs) -> Markets:
    """Return what makes the market of a population by its name."""

    @cache
    def market(population: str) -> DesignEnv:
        return DesignEnv.of(config.market, bidders_named(config.market)(population))

    return market


def _with_ends(briefs: Sequence[Brief], markets: Markets) -> list[Brief]:
    """Return briefs with the ends of their scores, measured where they are not known."""
    missing = [each for each in briefs if not each.scale]
    if not missing:
        return list(briefs)
    envs = {each.population: markets(each.population) for each in missing}
    measure = Measured(envs, SEED)
    bar = tqdm(missing, desc="searching with the true parts", unit="brief")
    found = {each.id: measure(each) or each for each in bar}
    return [found.get(each.id, each) for each in briefs]
