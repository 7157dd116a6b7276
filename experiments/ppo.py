"""Train a designer that is no language model by PPO, and compare it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.checks import CannotRunError
from daedalus.design.designers.ppo import PpoDesigner
from daedalus.launch.comparison import compare_designers
from daedalus.launch.config.tasks import Ppo
from daedalus.launch.from_config import make_env, own_context
from daedalus.launch.tracked import tracked
from daedalus.runs.folder import RunFolder


def main(config: Ppo, out: Path) -> None:
    """Train, write policy.npz and the curves, and compare the designer with the baselines.

    A run that was interrupted goes on from its checkpoint, with the same numbers.

    Raises:
        CannotRunError: The extra [rl] is not installed.
    """
    try:
        from daedalus.doors.gym.vector import MarketVectorEnv
        from daedalus.training.algorithms.ppo import trainer
    except ModuleNotFoundError as error:
        raise CannotRunError(
            f"+experiment=ppo needs {error.name}; run pip install -e '.[rl]' in a checkout, "
            "pip install 'FILE.whl[rl]' without one"
        ) from error

    env, settings, folder = make_env(config), config.ppo, RunFolder(out)
    checkpoint = folder.ppo_checkpoint
    with tracked(config, out) as (tracker, report):
        if not folder.policy.exists():
            markets = MarketVectorEnv(env, settings.markets, "SameStep")
            tracker.rewind(trainer.PHASE, trainer.rollouts_of(checkpoint))
            trained = trainer.train_ppo(markets, settings, config.seed, tracker.log, checkpoint)
            trained.write(folder.policy)
        designer = PpoDesigner.read(folder.policy)
        from daedalus.evaluation.figures import learning_curves  # slow to import

        history = pd.DataFrame(tracker.history(trainer.PHASE))
        report.table(history, "history")
        report.figure(learning_curves(history), "learning_curves")
        compare_designers(config.evaluation, own_context(config, env), report, {"ppo": designer})
