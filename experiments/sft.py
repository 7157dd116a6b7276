"""Teach a language model to write mechanisms."""

from __future__ import annotations

from pathlib import Path

from daedalus.config import Config
from daedalus.env import DesignEnv
from daedalus.evaluation.figures import learning_curves
from daedalus.tracking import Tracker
from experiments.common import make_env, make_tracker, write_figure, write_table


def main(config: Config, out: Path) -> None:
    """Train, measure sampled validity, and export the model to ``out/model``."""
    import pandas as pd

    from daedalus.training import sft
    from daedalus.training.signals import write_history

    env = make_env(config)
    with make_tracker(config, out) as tracker:
        validity = train(config, env, out / "model", tracker)
        history = write_history(tracker, sft.PHASE, out)
        write_figure(learning_curves(history), "learning_curves", out, tracker)
        summary = pd.DataFrame([{"steps": len(history), "sampled_validity": validity}])
        write_table(summary, "summary", out, tracker, show=True)


def train(config: Config, env: DesignEnv, target: Path, tracker: Tracker) -> float:
    """Export a fine-tuned model to ``target`` unless it is there; return its sampled validity."""
    from daedalus.training import sft
    from daedalus.training.checkpoints import export
    from daedalus.training.model import load_language_model, make_language_model

    training = config.training
    if not target.exists():
        model = make_language_model(config.model, training.prompt, env, config.seed)
        pairs = sft.synthetic_pairs(env, training.prompt, training.sft.examples, config.seed)
        checkpoints = target.parent / "checkpoints" / sft.PHASE
        model = sft.train_sft(
            model, pairs, training.sft, config.model.lora, tracker, checkpoints, config.seed
        )
        export(model, training.prompt, config.model.pretrained, target)
    count = training.sft.validity_prompts
    trained = load_language_model(target)
    return sft.sampled_validity(trained, env, training.prompt, count, config.seed)
