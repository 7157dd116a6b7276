"""Show what a designer would gain by another value of one field."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.design.designers.build import build_all
from daedalus.evaluation.episodes import compare
from daedalus.evaluation.run_report import Report
from daedalus.lab.studies.local_optimum import gain_bars, most_frequent, one_field_gains
from daedalus.launch.config.tasks import Neighbours
from daedalus.launch.from_config import make_env, own_context
from daedalus.launch.tracked import tracked
from daedalus.market.parsing import format_mechanism


def main(config: Neighbours, out: Path) -> None:
    """Find the mechanism that the designer sets most often; play its neighbours beside it."""
    env, name = make_env(config), config.designer.name
    episodes, seed = config.evaluation.episodes, config.seed
    designers = build_all({name: config.designer}, own_context(config, env))
    with tracked(config, out) as (_, report):
        mechanism, share = most_frequent(compare(env, designers, episodes, seed))
        report.say(f"{name}, in {100 * share:.0f} % of all steps: {format_mechanism(mechanism)}")
        gains = one_field_gains(env, mechanism, episodes, seed)
        report_gains(gains, report, "summary", "neighbours")


def report_gains(gains: pd.DataFrame, report: Report, table: str, figure: str) -> None:
    """Write what neighbours of a mechanism gain as a table and a figure of these names."""
    report.table(gains, table)
    title = "changes of one field that gain most; chosen on these episodes, so the best is too high"
    report.show(gains.head(), title)
    report.figure(gain_bars(gains), figure)
