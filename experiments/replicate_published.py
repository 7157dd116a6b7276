"""Check whether the classic market gives the published means of two baselines."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.launch.comparison import compare_designers
from daedalus.launch.config.tasks import ReplicatePublished
from daedalus.launch.from_config import make_env, own_context
from daedalus.launch.tracked import tracked

PUBLISHED = {"random_published": 0.326, "informed_greedy": 0.434}
"""Published mean of R at stage 1."""


def main(config: ReplicatePublished, out: Path) -> None:
    """Play both baselines; report whether the published means lie in the measured intervals."""
    with tracked(config, out) as (_, report):
        context = own_context(config, make_env(config))
        summary = compare_designers(config.evaluation, context, report, {})
        replication = pd.DataFrame(PUBLISHED.items(), columns=["designer", "published"])
        measured = summary.set_index("designer")[["mean", "mean_low", "mean_high", "mean_interval"]]
        measured.columns = measured.columns.str.replace("mean", "measured")
        replication = replication.join(measured, on="designer")
        replication["reproduced"] = replication["published"].between(
            replication["measured_low"], replication["measured_high"]
        )
        report.table(replication, "replication", "published and measured means of R")
