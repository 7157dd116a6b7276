"""Train a language model by SFT to write mechanisms."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from daedalus.launch.config.tasks import Sft
from daedalus.launch.from_config import make_training_run
from daedalus.launch.tracked import tracked
from daedalus.runs.folder import RunFolder
from daedalus.runs.processes import is_main
from experiments.grpo import draw_curves


def main(config: Sft, out: Path) -> None:
    """Train, measure the validity of sampled answers, and export the model to ``out/model``."""
    from daedalus.training.hardware import require_machine

    require_machine(config.model, config.training)
    with tracked(config, out) as (tracker, report):
        from daedalus.training.pipeline import VALIDITY, teach

        run = make_training_run(config, RunFolder(out), tracker, report)
        teach(run, run.folder.model)
        if is_main():
            draw_curves(run, "sft")
            summary = pd.DataFrame(tracker.history(VALIDITY))
            report.table(summary, "summary", "supervised fine-tuning")
