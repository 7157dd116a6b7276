"""Check the published headline: random and informed greedy at stage 1."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.config import Config
from experiments.common import compare_designers, make_env, make_tracker, write_table

PUBLISHED = {"random_card": 0.326, "informed_greedy": 0.434}
"""Mean composite reward that the card states."""


def main(config: Config, out: Path) -> None:
    """Play both baselines; say whether the published means lie in the intervals measured."""
    with make_tracker(config, out) as tracker:
        summary = compare_designers(config, make_env(config), out, tracker, {})
        measured = summary.set_index("designer").loc[list(PUBLISHED)]
        replication = pd.DataFrame(
            {
                "designer": list(PUBLISHED),
                "published": list(PUBLISHED.values()),
                "measured": measured["mean"].to_numpy(),
                "low": measured["mean_low"].to_numpy(),
                "high": measured["mean_high"].to_numpy(),
            }
        )
        replication["reproduced"] = replication["published"].between(
            replication["low"], replication["high"]
        )
        write_table(replication, "replication", out, tracker, show=True)
