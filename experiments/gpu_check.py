"""Train the shape of the published model in 4 bits, and measure what it takes and gives."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pandas as pd

from daedalus.checks import CannotRunError
from daedalus.launch.config.tasks import GpuCheck
from daedalus.launch.from_config import make_training_run
from daedalus.launch.tracked import tracked
from daedalus.runs.folder import RunFolder
from daedalus.runs.tracking import Tracker
from daedalus.training.run import TrainingRun
from daedalus.training.settings import without_adapters
from experiments import grpo

_LARGE = 1024  # width of a model for GPUs
COSTS = "costs"
"""Name under which the seconds and the peak memory of each phase are logged."""


def main(config: GpuCheck, out: Path) -> None:
    """Teach all weights the format, then train adapters on them by GRPO, and report the costs.

    The first part replaces the weights of the hub, because random weights would earn no reward.
    With ``model.pretrained`` there are such weights already.
    """
    from daedalus.training.hardware import require_hardware

    require_hardware(config.model)
    _require_gpu(config)
    with tracked(config, out) as (tracker, report):
        from daedalus.training.pipeline import teach, train

        run, base = make_training_run(config, RunFolder(out), tracker, report), out / "base"
        if not config.model.pretrained:
            base.mkdir(exist_ok=True)
            whole = replace(run, model=without_adapters(run.model), folder=RunFolder(base))
            measured("sft", tracker, lambda: teach(whole, whole.folder.model))
        adapted = on_base(run, RunFolder(base).model)
        measured("grpo", tracker, lambda: train(adapted))
        grpo.compare(config, adapted)
        report.table(costs(run), "costs", "what a step takes")


def _require_gpu(config: GpuCheck) -> None:
    from daedalus.training.hardware import has_gpu

    if config.model.hidden_size >= _LARGE and not has_gpu():
        raise CannotRunError(
            "gpu_check: no GPU was found, and this model would take days without one; "
            "model=tiny_qlora training=smoke training.sft.steps=3 runs the check in miniature"
        )


def on_base(run: TrainingRun, base: Path) -> TrainingRun:
    """Return the run that trains adapters on the weights of ``base`` by GRPO alone."""
    model = replace(run.model, pretrained=run.model.pretrained or str(base))
    sft = replace(run.settings.sft, steps=0)
    return replace(run, model=model, settings=replace(run.settings, sft=sft))


def measured(phase: str, tracker: Tracker, train: Callable[[], None]) -> None:
    """Run a phase, and log its seconds and the peak of its memory, also if it is interrupted."""
    from daedalus.training.hardware import begin_measuring_memory, peak_memory

    begin_measuring_memory()
    began = time.perf_counter()
    try:
        train()
    finally:
        spent = {f"{phase}_seconds": time.perf_counter() - began}
        spent[f"{phase}_peak_gib"] = peak_memory()
        tracker.log(COSTS, len(tracker.history(COSTS)), spent)


def costs(run: TrainingRun) -> pd.DataFrame:
    """Return what training took, one row for each quantity, from the run's own logs."""
    settings, tracker = run.settings.grpo, run.tracker
    steps = pd.DataFrame(tracker.history("grpo"))
    rows = dict(steps[["step_seconds", "generation_seconds", "reward_seconds"]].mean())
    rest = rows["step_seconds"] - rows["generation_seconds"] - rows["reward_seconds"]
    tokens = steps["completion_length"].mean() * settings.prompts_per_step * settings.group_size
    rows |= {"training_seconds": rest, "tokens_per_second": tokens / rows["generation_seconds"]}
    spent = pd.DataFrame(tracker.history(COSTS)).drop(columns="step")
    rows |= {  # of all launches
        str(name): each.sum() if str(name).endswith("_seconds") else each.max()
        for name, each in spent.items()
    }
    return pd.DataFrame({"quantity": list(rows), "value": list(rows.values())})
