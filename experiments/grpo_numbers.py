"""Train a policy of plain numbers by GRPO's updates, and compare its mechanism with search's."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.config import Config
from daedalus.designers.fixed import FixedDesigner
from daedalus.evaluation.figures import learning_curves
from daedalus.market.parsing import format_mechanism
from daedalus.studies.neighbours import one_field_gains
from experiments.build import make_env
from experiments.compare import compare_designers
from experiments.neighbours import report_gains
from experiments.search import write_mechanism
from experiments.tracked import tracked

_EPISODES = 300  # in which neighbours are compared


def main(config: Config, out: Path) -> None:
    """Train, write the likeliest mechanism and what its neighbours gain, and compare it."""
    from daedalus.training.numbers import trainer

    env = make_env(config)
    with tracked(config, out) as (tracker, report):
        tracker.rewind(trainer.PHASE, 0)
        policy = trainer.train_numbers(env, config.numbers, config.seed, tracker.log)
        history = pd.DataFrame(tracker.history(trainer.PHASE))
        report.table(history, "history")
        report.figure(learning_curves(history), "learning_curves")
        best = policy.mode()
        write_mechanism(best, out)
        report.say(f"likeliest mechanism: {format_mechanism(best)}")
        report_gains(one_field_gains(env, best, _EPISODES, config.seed), report, "neighbours")
        compare_designers(config, env, report, {"numbers": FixedDesigner(best)})
