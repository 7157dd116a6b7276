"""Search the best fixed mechanism and score it on other markets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.search.best_fixed import best_fixed
from daedalus.design.search.objective import EpisodeObjective
from daedalus.launch.comparison import compare_designers
from daedalus.launch.config.tasks import Search
from daedalus.launch.from_config import make_env, own_context
from daedalus.launch.tracked import tracked
from daedalus.market.parsing import format_mechanism
from daedalus.market.seeds import generator
from daedalus.runs.files import write_text


def main(config: Search, out: Path) -> None:
    """Search on one set of markets, write the result to mechanism.json, score it on another set."""
    env = make_env(config)
    score = EpisodeObjective([env], config.seed)
    best, rungs = best_fixed(config.designer, score, generator(config.seed, "search"), env.goal)
    write_text(out / "mechanism.json", json.dumps(best.to_dict(), indent=2) + "\n")
    with tracked(config, out) as (_, report):
        report.say(f"best fixed mechanism: {format_mechanism(best)}")
        rows = [
            {"rung": number, "episodes": rung.episodes, "candidates": len(rung.scores)}
            | {"best": rung.scores[0], "median": float(np.median(rung.scores))}
            for number, rung in enumerate(rungs, start=1)
        ]
        report.table(pd.DataFrame(rows), "rungs", "rungs")
        compare_designers(
            config.evaluation, own_context(config, env), report, {"search": FixedDesigner(best)}
        )
