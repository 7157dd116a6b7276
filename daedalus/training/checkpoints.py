"""Checkpoints of an interrupted phase, and the export of a finished model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from peft import PeftModel
from transformers import PreTrainedModel

from daedalus.design.language.prompt import PromptSettings
from daedalus.runs.files import written_whole_folder
from daedalus.runs.folder import adapters_of
from daedalus.training.backends import quantisation
from daedalus.training.defaults import neutral_generation
from daedalus.training.model import LanguageModel, load_language_model
from daedalus.training.settings import ModelSettings
from daedalus.training.trained_prompt import write_manner


def last_checkpoint(folder: Path) -> Path | None:
    """Return the newest complete checkpoint of a trainer, or None.

    A trainer writes trainer_state.json last, so a checkpoint without the whole of this file is
    incomplete. See ``finish_checkpoints_together`` for several processes.
    """
    states = folder.glob("checkpoint-*/trainer_state.json")
    complete = [path.parent for path in states if _is_whole(path)]
    return max(complete, key=_step, default=None)


def _is_whole(state: Path) -> bool:
    """Return whether a JSON file was written to its end, and is still there."""
    try:
        json.loads(state.read_text())
    except (FileNotFoundError, ValueError):
        return False
    return True


def completed_steps(folder: Path) -> int:
    """Return the step of the newest complete checkpoint of a trainer, 0 if there is none."""
    checkpoint = last_checkpoint(folder)
    return _step(checkpoint) if checkpoint else 0


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.split("-")[1])


def export(
    language_model: LanguageModel,
    prompt: PromptSettings,
    base: str | Path,
    folder: Path,
    settings: ModelSettings | None = None,
    constrained: bool = False,
    at_once: bool | None = None,
) -> None:
    """Write a model that ``from_pretrained`` loads, completely or not at all.

    Its generation configuration is neutral, see ``neutral_generation``.

    Adapters are merged into base weights that are loaded again, see ``ModelSettings.merge``.
    Merging into quantised weights would round twice. The adapters alone are kept beside the model,
    in ``adapters_of(folder)``. In its folder, ``from_pretrained`` would apply them a second time.

    Args:
        language_model: The trained model.
        prompt: The prompt that it was trained on, which is saved beside it.
        base: Folder or hub name of its base weights; used only for adapters.
        folder: Folder of the export; replaced if it exists.
        settings: How the model was loaded; needed only for adapters on quantised weights.
        constrained: Whether its answers were constrained in training, which is saved as well.
        at_once: How it answers briefs, see ``answers_at_once``; saved as well.
    """
    merged = language_model.model
    if isinstance(merged, PeftModel):
        merged = _merged(merged, _weights(base, settings or ModelSettings()), adapters_of(folder))
    neutral_generation(merged, language_model.tokenizer)
    with written_whole_folder(folder) as aside:
        merged.save_pretrained(aside)
        language_model.tokenizer.save_pretrained(aside)
        write_manner(prompt, constrained, aside, at_once)


def _weights(base: str | Path, settings: ModelSettings) -> PreTrainedModel:
    if settings.merge == "base":
        return load_language_model(base).model
    quantised = load_language_model(base, quantisation()).model
    return cast(PreTrainedModel, quantised.dequantize())


def _merged(adapted: PeftModel, weights: PreTrainedModel, adapters: Path) -> PreTrainedModel:
    with written_whole_folder(adapters) as aside:
        adapted.save_pretrained(str(aside))
    merged: PreTrainedModel = PeftModel.from_pretrained(weights, adapters).merge_and_unload()
    return merged
