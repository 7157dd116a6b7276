"""Train a designer by SFT and then by GRPO, and compare it with the baselines."""

from __future__ import annotations

from pathlib import Path

from daedalus.config import Config
from daedalus.designers.language_model import LanguageModelDesigner
from daedalus.env import DesignEnv
from daedalus.evaluation.figures import learning_curves
from daedalus.evaluation.report import Report
from daedalus.run_folder import RunFolder
from daedalus.tracking import Tracker
from experiments import sft
from experiments.build import find_portfolio, make_env, tracked
from experiments.compare import compare_designers


def main(config: Config, out: Path) -> None:
    """Train, export to ``out/model``, draw the learning curves and compare in closed loop."""
    from daedalus.training.hardware import require_hardware

    require_hardware(config.model)  # before anything else of training is imported
    from daedalus.training import grpo
    from daedalus.training.generation import make_generate
    from daedalus.training.model import load_language_model
    from daedalus.training.signals import write_history

    env, run = make_env(config), RunFolder(out)
    with tracked(config, out) as (tracker, report):
        train(config, env, run, tracker, report)
        history = write_history(tracker, grpo.PHASE, run)
        if len(history):
            report.figure(learning_curves(history), "learning_curves")
        tokens = config.training.grpo.max_completion_tokens
        generate = make_generate(load_language_model(run.model), 0.0, tokens)
        designer = LanguageModelDesigner(generate, config.training.prompt)
        compare_designers(config, env, report, {"trained": designer})


def train(config: Config, env: DesignEnv, run: RunFolder, tracker: Tracker, report: Report) -> None:
    """Train and export the model, unless an interrupted run has done so already."""
    from daedalus.training import grpo
    from daedalus.training.backends import make_backend
    from daedalus.training.checkpoints import completed_steps, export
    from daedalus.training.sources import make_source

    if run.model.exists():
        return
    sft.train(config, env, run, run.sft_model, tracker, report)
    backend = make_backend(config.model)
    model = backend.load(run.sft_model)
    settings, checkpoints = config.training.grpo, run.checkpoints(grpo.PHASE)
    if settings.steps:
        portfolio = find_portfolio(config, env, run)
        logged = tracker.history(grpo.PHASE)[: completed_steps(checkpoints)]
        source = make_source(
            model, env, portfolio, config.reward, config.training, logged, run, config.seed
        )
        model = grpo.train_grpo(model, source, settings, backend, tracker, checkpoints, config.seed)
    export(model, config.training.prompt, run.sft_model, run.model, config.model)
