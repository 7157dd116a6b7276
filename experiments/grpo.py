"""Train a designer by SFT and then on rewards, by GRPO, and compare it with the baselines."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.design.designers.build import require_other_names
from daedalus.design.designers.language_model import LanguageModelDesigner
from daedalus.launch.comparison import compare_designers
from daedalus.launch.config.task_parts import Contest
from daedalus.launch.config.tasks import Grpo
from daedalus.launch.from_config import make_training_run, own_context
from daedalus.launch.tracked import tracked
from daedalus.runs.folder import RunFolder
from daedalus.runs.processes import is_main
from daedalus.training.run import TrainingRun

_TRAINED = "trained"


def main(config: Grpo, out: Path) -> None:
    """Train, export to ``out/model``, draw the learning curves and compare in closed loop."""
    from daedalus.training.hardware import require_machine

    require_machine(config.model, config.training)
    require_other_names(config.evaluation.baselines, _TRAINED, "the model that this run trains")
    with tracked(config, out) as (tracker, report):
        from daedalus.training.pipeline import train

        run = make_training_run(config, RunFolder(out), tracker, report)
        train(run)
        if is_main():
            compare(config, run)


def compare(config: Contest, run: TrainingRun) -> None:
    """Draw the learning curves, and compare the exported model in closed loop."""
    from daedalus.training.generation import make_generate
    from daedalus.training.model import load_language_model

    name = run.settings.last
    last = run.settings.reinforcement[name]
    draw_curves(run, name if last.steps else "sft")
    model, tokens = load_language_model(run.folder.model), last.max_completion_tokens
    generate = make_generate(model, 0.0, tokens, run.settings.constrained or None)
    designer = LanguageModelDesigner(generate, run.settings.prompt)
    context = own_context(config, run.env)
    compare_designers(config.evaluation, context, run.report, {_TRAINED: designer})


def draw_curves(run: TrainingRun, phase: str) -> None:
    """Write the history of a phase, and draw it beside that of SFT."""
    from daedalus.evaluation.figures import learning_curves  # slow to import
    from daedalus.training.trainer_logs import write_history

    history = write_history(run.tracker, phase, run.folder)
    if len(history):
        taught = None if phase == "sft" else pd.DataFrame(run.tracker.history("sft"))
        run.report.figure(learning_curves(history, taught), "learning_curves")
