"""Training from its first weights to the exported model: SFT, then what learns from rewards."""

from __future__ import annotations

import logging
import shutil
from importlib import import_module
from pathlib import Path

from daedalus.runs.files import written_whole_folder
from daedalus.runs.folder import PROMPT
from daedalus.runs.processes import handed_over, once
from daedalus.training.algorithms.sft import trainer as sft
from daedalus.training.backends import load_base
from daedalus.training.checkpoints import export
from daedalus.training.model import LanguageModel, make_language_model
from daedalus.training.run import TrainingRun
from daedalus.training.settings import without_adapters
from daedalus.training.trained_prompt import trained_prompt
from daedalus.training.weight_sources import resolved

logger = logging.getLogger(__name__)

VALIDITY = "sft_validity"
"""Name under which the validity of sampled answers is logged."""


def train(run: TrainingRun) -> None:
    """Train by every algorithm in turn and export, unless an interrupted run has done so."""
    if handed_over(run.folder.model.exists()):
        return
    teach(run, run.folder.sft_model)
    if not any(each.steps for each in run.settings.reinforcement.values()):
        copy_taught(run)
        return
    model = load_base(run.model, run.folder.sft_model)
    for name, settings in run.settings.reinforcement.items():
        if settings.steps:
            trainer = import_module(f"daedalus.training.algorithms.{name}.trainer")
            model = trainer.train(model, run)
    _export_trained(model, run)


def teach(run: TrainingRun, target: Path) -> None:
    """Train by SFT and export to ``target``, unless an interrupted run has done so."""
    if handed_over(target.exists()):
        return
    model = first_model(run)
    if run.settings.sft.steps:
        model = sft.train(model, run)
    _export_taught(model, run, target)


def first_model(run: TrainingRun) -> LanguageModel:
    """Load the model that the settings name, or build the embedded one.

    An embedded model that gets adapters is written to ``base_model``. It is loaded from there, and
    the adapters are merged into it later. Without SFT there is nothing for adapters to learn yet.
    """
    settings, prompt, base = run.model, run.settings.prompt, run.folder.base_model
    if not run.settings.sft.steps:
        settings = without_adapters(settings)
    if settings.pretrained:
        source = resolved(settings.pretrained)
        if (Path(source) / PROMPT).is_file() and trained_prompt(source) != prompt:
            logger.warning(
                "model.pretrained: %s was trained on another prompt than training.prompt asks for, "
                "so its first answers are those of a model that does not know this one",
                source,
            )
        return load_base(settings, source)
    model = make_language_model(settings, prompt, run.env, run.seed, run.portfolio)
    if not settings.lora.rank:
        return model
    once(export)(model, prompt, "", base)
    return load_base(settings, base)


def first_weights(run: TrainingRun) -> str | Path:
    """Return the folder or hub name of the weights that SFT began with."""
    return resolved(run.model.pretrained) or run.folder.base_model


@once
def copy_taught(run: TrainingRun) -> None:
    """Export the model of SFT where nothing follows; to load it as a base would round it."""
    with written_whole_folder(run.folder.model) as aside:
        shutil.copytree(run.folder.sft_model, aside, dirs_exist_ok=True)


@once
def _export_taught(model: LanguageModel, run: TrainingRun, target: Path) -> None:
    """Measure the validity of sampled answers, unless they are constrained; export the model."""
    if not run.settings.constrained:
        _log_validity(model, run)
    constrained = run.settings.constrained
    export(model, run.settings.prompt, first_weights(run), target, run.model, constrained)


def _log_validity(model: LanguageModel, run: TrainingRun) -> None:
    settings = run.settings.sft
    validity = sft.sampled_validity(model, run)
    run.report.say(
        f"{100 * validity:.1f} % of {settings.validity_prompts} answers, sampled at temperature 1, "
        "are valid"
    )
    run.tracker.rewind(VALIDITY, -1)
    run.tracker.log(VALIDITY, settings.steps, {"validity": validity})


@once
def _export_trained(model: LanguageModel, run: TrainingRun) -> None:
    folder = run.folder
    constrained = run.settings.constrained
    export(model, run.settings.prompt, folder.sft_model, folder.model, run.model, constrained)
