"""All that we use of the trainers of TRL and transformers though it is private.

Another version may rename it. Before you raise a version, read these methods there.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from transformers import Trainer
from trl import GRPOTrainer

from daedalus.runs.processes import gathered
from daedalus.training.backends import repeatable_attention

WRITTEN_FOR = {"trl": "1.14.2", "transformers": "5.17.0"}
"""Versions in which these methods were read."""


def wrap_generation(trainer: GRPOTrainer) -> None:
    """Sample the same completions on any number of threads, and log the seconds that this takes.

    TRL has no hook around sampling alone, and logs the seconds of a whole step.
    """
    generate = trainer._generate

    def timed(*arguments: Any, **options: Any) -> Any:
        began = time.perf_counter()
        with repeatable_attention():
            completions = generate(*arguments, **options)
        trainer._metrics["train"]["generation_seconds"].append(time.perf_counter() - began)
        return completions

    vars(trainer)["_generate"] = timed


def finish_checkpoints_together(trainer: Trainer) -> None:
    """Let a checkpoint be complete only when each process has written its random state to it.

    The main process then writes the file that completes a checkpoint. It would not wait for the
    others, and no callback comes in between.
    """
    save = trainer._save_rng_state

    def saved(folder: str) -> None:
        save(folder)
        gathered([None])

    vars(trainer)["_save_rng_state"] = saved


def load_checkpoint(trainer: Trainer, checkpoint: Path) -> None:
    """Load the weights of a finished phase. From its checkpoint ``train`` would make one step more.

    It takes adapters as well as whole models.
    """
    trainer._load_from_checkpoint(str(checkpoint))
