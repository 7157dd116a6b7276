"""Train a designer that is no language model by PPO, and compare it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.checks import CannotRunError
from daedalus.config import Config
from daedalus.evaluation.figures import learning_curves
from daedalus.runs.folder import RunFolder
from experiments.build import make_env
from experiments.compare import compare_designers
from experiments.tracked import tracked


def main(config: Config, out: Path) -> None:
    """Train, write policy.npz and the curves, and compare the designer with the baselines.

    Raises:
        CannotRunError: The extra [rl] is not installed.
    """
    try:
        from daedalus.gym.vector import MarketVectorEnv
        from daedalus.training.ppo import trainer
    except ModuleNotFoundError as error:
        raise CannotRunError(
            f"+experiment=ppo needs {error.name}; install the extra: pip install 'daedalus[rl]'"
        ) from error

    env, settings = make_env(config), config.ppo
    markets = MarketVectorEnv(env, settings.markets, "SameStep")
    with tracked(config, out) as (tracker, report):
        tracker.rewind(trainer.PHASE, 0)
        designer = trainer.train_ppo(markets, settings, config.seed, tracker.log)
        designer.write(RunFolder(out).policy)
        history = pd.DataFrame(tracker.history(trainer.PHASE))
        report.table(history, "history")
        report.figure(learning_curves(history), "learning_curves")
        compare_designers(config, env, report, {"ppo": designer})
