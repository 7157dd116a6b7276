"""Check the strategic market against results of auction theory."""

from __future__ import annotations

import itertools
from pathlib import Path

from tqdm import tqdm

from daedalus.lab.theory import figures as theory_figures
from daedalus.lab.theory.bidder_checks import learn_to_shade
from daedalus.lab.theory.revenue_checks import reserve_curves
from daedalus.lab.theory.table import RESULTS, theory_table
from daedalus.lab.theory.theory_market import BIDDERS, RESERVES
from daedalus.launch.config.tasks import Theory
from daedalus.launch.tracked import tracked


def main(config: Theory, out: Path) -> None:
    """Compare measurements with theory, count the agreements, and draw the two main results."""
    episodes, seed = config.evaluation.episodes, config.seed
    cases = list(itertools.product(BIDDERS, RESERVES))
    learned = [
        learn_to_shade(bidders, reserve, episodes, seed)
        for bidders, reserve in tqdm(cases, "learning", leave=False, disable=None)
    ]
    curves = reserve_curves(episodes, seed)
    results = tqdm(RESULTS, "results", leave=False, disable=None)
    summary = theory_table(learned, curves, results, episodes, seed)
    with tracked(config, out) as (_, report):
        report.table(summary, "summary", "theory and measurement")
        report.table(curves, "reserves")
        report.say(f"{summary['passes'].sum()} of {len(summary)} numbers agree with theory")
        for what, rows in summary.groupby("tests"):
            report.say(f"of these, tests of the {what}: {rows['passes'].sum()} of {len(rows)}")
        report.figure(theory_figures.learned_bids(learned), "learned_bids")
        report.figure(theory_figures.reserve_curves(curves), "reserves")
