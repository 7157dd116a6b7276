"""Train a language model by SFT to write mechanisms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from daedalus.config import Config
from daedalus.env import DesignEnv
from daedalus.evaluation.figures import learning_curves
from daedalus.evaluation.report import Report
from daedalus.language.prompt import PromptSettings
from daedalus.market.mechanism import Mechanisms
from daedalus.runs.folder import RunFolder
from daedalus.runs.processes import is_main, once
from daedalus.runs.tracking import Tracker
from daedalus.training.settings import ModelSettings, without_adapters
from experiments.build import find_portfolio, make_env
from experiments.tracked import tracked

if TYPE_CHECKING:
    from daedalus.training.model import LanguageModel

VALIDITY = "sft_validity"
"""Name under which the validity of sampled answers is logged."""


def main(config: Config, out: Path) -> None:
    """Train, measure the validity of sampled answers, and export the model to ``out/model``."""
    from daedalus.training.hardware import require_hardware, require_shares

    require_hardware(config.model)  # before anything else of training is imported
    require_shares(config.model, config.training)
    run = RunFolder(out)
    with tracked(config, out) as (tracker, report):
        train(config, make_env(config), run, run.model, tracker, report)
        if is_main():
            _show(run, tracker, report)


def _show(run: RunFolder, tracker: Tracker, report: Report) -> None:
    from daedalus.training.algorithms.sft import trainer as sft
    from daedalus.training.signals import write_history

    history = write_history(tracker, sft.PHASE, run)
    if len(history):
        report.figure(learning_curves(history), "learning_curves")
    summary = pd.DataFrame(tracker.history(VALIDITY))
    report.table(summary, "summary")
    report.show(summary, "supervised fine-tuning")


def train(
    config: Config,
    env: DesignEnv,
    run: RunFolder,
    target: Path,
    tracker: Tracker,
    report: Report,
) -> None:
    """Train and export a model to ``target``, unless an interrupted run has done so already."""
    from daedalus.training.algorithms.sft import trainer as sft
    from daedalus.training.backends import make_backend

    if once(target.exists):
        return
    training, seed = config.training, config.seed
    settings = config.model if training.sft.steps else without_adapters(config.model)
    portfolio = once(lambda: find_portfolio(config, env, run))
    model = first_model(settings, training.prompt, env, run, seed, portfolio)
    if training.sft.steps:
        backend = make_backend(settings)
        practice = sft.make_practice(env, training, portfolio, run, seed)
        if practice:
            model = sft.train_with_practice(model, practice, backend, tracker, run)
        else:
            count = training.sft.examples
            pairs = once(lambda: sft.synthetic_pairs(env, training.prompt, count, seed))
            folder = run.checkpoints(sft.PHASE)
            model = sft.train_sft(model, pairs, training.sft, backend, tracker, folder, seed)
    once(lambda: _finish(model, config, settings, env, portfolio, run, target, tracker, report))


def _finish(
    model: LanguageModel,
    config: Config,
    settings: ModelSettings,
    env: DesignEnv,
    portfolio: Mechanisms | None,
    run: RunFolder,
    target: Path,
    tracker: Tracker,
    report: Report,
) -> None:
    """Measure the validity of sampled answers, and export the model."""
    from daedalus.training.algorithms.sft import trainer as sft
    from daedalus.training.checkpoints import export

    training, seed = config.training, config.seed
    count = training.sft.validity_prompts
    validity = sft.sampled_validity(model, env, training.prompt, count, seed, portfolio)
    report.say(f"{100 * validity:.1f} % of {count} answers, sampled at temperature 1, are valid")
    tracker.rewind(VALIDITY, -1)
    tracker.log(VALIDITY, training.sft.steps, {"validity": validity})
    base = settings.pretrained or run.base_model
    export(model, training.prompt, base, target, settings)


def first_model(
    settings: ModelSettings,
    prompt: PromptSettings,
    env: DesignEnv,
    run: RunFolder,
    seed: int,
    portfolio: Mechanisms | None,
) -> LanguageModel:
    """Load the model that the settings name, or build the embedded one.

    An embedded model that gets adapters is written to ``run.base_model``. It is loaded from there,
    and the adapters are merged into it later.
    """
    from daedalus.training.backends import make_backend
    from daedalus.training.checkpoints import export
    from daedalus.training.model import make_language_model

    if settings.pretrained:
        return make_backend(settings).load(settings.pretrained)
    model = make_language_model(settings, prompt, env, seed, portfolio)
    if not settings.lora.rank:
        return model
    once(lambda: export(model, prompt, "", run.base_model))
    return make_backend(settings).load(run.base_model)
