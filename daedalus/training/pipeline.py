"""Training from its first weights to the exported model: SFT, then what learns from rewards."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import torch
from transformers import PreTrainedModel

from daedalus.design.language.prompt import Message, prompts
from daedalus.design.search.states import mid_episode_states
from daedalus.runs.files import written_whole_folder
from daedalus.runs.folder import PROMPT
from daedalus.runs.processes import handed_over, once
from daedalus.training.algorithms.sft import trainer as sft
from daedalus.training.backends import load_base
from daedalus.training.checkpoints import export
from daedalus.training.constrained import Constraint
from daedalus.training.generation import complete, generating
from daedalus.training.model import LanguageModel, load_language_model, make_language_model
from daedalus.training.run import TrainingRun
from daedalus.training.settings import without_adapters
from daedalus.training.trained_prompt import trained_prompt
from daedalus.training.weight_sources import resolved
from daedalus.training.writing import mechanism_constraint

logger = logging.getLogger(__name__)

VALIDITY = "sft_validity"
"""Name under which the validity of sampled answers is logged."""
FIDELITY = "fidelity"
"""Name under which the closeness of the exported model to the trained one is logged."""
_COMPARED = 32  # answers


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
    """Export the model, and log how close the export of adapters is to it."""
    folder = run.folder
    constrained = run.settings.constrained
    export(model, run.settings.prompt, folder.sft_model, folder.model, run.model, constrained)
    if run.model.lora.rank:
        _log_fidelity(model, run)


def _log_fidelity(model: LanguageModel, run: TrainingRun) -> None:
    """Log how close the predictions of the exported model are to those of the trained one."""
    states = mid_episode_states(run.env, _COMPARED, run.seed, "fidelity")
    chats = prompts(states.observe(), run.settings.prompt)
    last = run.settings.reinforcement[run.settings.last]
    exported = load_language_model(run.folder.model)
    allowed = run.env.goal.allowed
    constraint = mechanism_constraint(model, allowed) if run.settings.constrained else None
    closeness = fidelity(model, exported, chats, last.max_completion_tokens, constraint)
    run.tracker.rewind(FIDELITY, -1)
    run.tracker.log(FIDELITY, last.steps, closeness)
    run.report.say(
        f"exported against trained: divergence {closeness['divergence']:.5f} nats per token, "
        f"the same token first in {100 * closeness['agreement']:.1f} %"
    )


def fidelity(
    trained: LanguageModel,
    exported: LanguageModel,
    chats: Sequence[list[Message]],
    tokens: int,
    constraint: Constraint | None = None,
) -> dict[str, float]:
    """Compare two models on the answers that the trained one gives at temperature 0.

    Args:
        trained: The model as it was trained, with its adapters.
        exported: The model as it was written, with merged adapters.
        chats: The prompts.
        tokens: Largest number of tokens of an answer that is not constrained.
        constraint: What the trained model may write; None is anything.

    Returns:
        The mean Kullback-Leibler ``divergence`` from the trained model's predictions to the
        exported model's, in nats per token; and the ``agreement``, the share of tokens for which
        both hold the same one most probable.
    """
    said = complete(trained, chats, 0.0, tokens, constraint)
    divergences, same = [], []
    for prompt, answer in zip(said.prompts, said.answers, strict=True):
        one, other = (_predictions(each.model, prompt, answer) for each in (trained, exported))
        divergences.append((one.exp() * (one - other)).sum(dim=1))
        same.append((one.argmax(dim=1) == other.argmax(dim=1)).float())
    divergence = max(0.0, float(torch.cat(divergences).mean()))
    return {"divergence": divergence, "agreement": float(torch.cat(same).mean())}


def _predictions(model: PreTrainedModel, prompt: list[int], answer: list[int]) -> torch.Tensor:
    """Return log-probabilities at each token of the answer, shape (length, vocabulary)."""
    with generating(model):
        tokens = torch.tensor([prompt + answer], device=model.device)
        logits: torch.Tensor = model(tokens).logits[0]
    return logits[len(prompt) - 1 : -1].float().log_softmax(dim=1).cpu()
