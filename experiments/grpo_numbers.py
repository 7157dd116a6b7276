"""Train tabular policies by updates of GRPO; compare their mechanisms with search's."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from daedalus.design.designers.fixed import FixedDesigner
from daedalus.design.env import DesignEnv, Designer
from daedalus.evaluation.run_report import Report
from daedalus.lab.studies.local_optimum import one_field_gains
from daedalus.launch.comparison import compare_designers
from daedalus.launch.config.tasks import GrpoNumbers
from daedalus.launch.from_config import make_env, own_context
from daedalus.launch.tracked import tracked
from daedalus.market.mechanism import Mechanism
from daedalus.market.parsing import format_mechanism
from daedalus.runs.tracking import Tracker
from daedalus.training.tabular_settings import TabularSettings
from experiments.neighbours import report_gains

_EPISODES = 300  # in which neighbours are compared


def main(config: GrpoNumbers, out: Path) -> None:
    """Train by each update; compare the likeliest mechanisms, and tell what one change gains."""
    env, rows = make_env(config), []
    trainings = config.updates or {"numbers": config.numbers}
    designers: dict[str, Designer] = {}
    with tracked(config, out) as (tracker, report):
        for name, settings in tqdm(trainings.items(), "updates", leave=False, disable=None):
            best, entropy = _train(env, name, settings, config.seed, tracker, report)
            gains = one_field_gains(env, best, _EPISODES, config.seed)
            text = format_mechanism(best)
            report.say(f"{name}: {text}")
            report_gains(gains, report, f"{name}_neighbours", f"{name}_neighbours")
            most = {key: gains.loc[0, key] for key in ("gain", "field", "value")}
            rows.append({"update": name, "entropy": entropy} | most | {"mechanism": text})
            designers[name] = FixedDesigner(best)
        updates = pd.DataFrame(rows)
        report.table(updates, "updates")
        shown = updates.drop(columns="mechanism")
        report.show(shown, "entropy at the end, and what one change still gains")
        compare_designers(config.evaluation, own_context(config, env), report, designers)


def _train(
    env: DesignEnv,
    name: str,
    settings: TabularSettings,
    seed: int,
    tracker: Tracker,
    report: Report,
) -> tuple[Mechanism, float]:
    """Return the likeliest mechanism after the training, and the entropy in nats a field."""
    from daedalus.evaluation.figures import learning_curves  # slow to import
    from daedalus.training.tabular import train_tabular

    tracker.rewind(name, 0)
    policy = train_tabular(env, settings, seed, partial(tracker.log, name))
    history = pd.DataFrame(tracker.history(name))
    report.table(history, f"{name}_history")
    report.figure(learning_curves(history), f"{name}_learning_curves")
    return policy.mode(), float(history["entropy"].iloc[-1])
