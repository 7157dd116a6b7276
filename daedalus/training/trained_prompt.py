"""The file beside a model's weights that says how it was asked in training, and how it answered."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from huggingface_hub import hf_hub_download, try_to_load_from_cache
from huggingface_hub.errors import LocalEntryNotFoundError, RemoteEntryNotFoundError

from daedalus.checks import CannotRunError
from daedalus.design.language.prompt import PromptSettings
from daedalus.runs.folder import PROMPT

_CONSTRAINED = "constrained"
_AT_ONCE = "at_once"
_EARLIER = ("objective",)  # keys of earlier versions, which observations tell since then


def trained_prompt(source: str | Path) -> PromptSettings:
    """Return the prompt settings of an exported model; defaults for other models.

    The file of a model on the hub is downloaded, or taken from the cache.

    Args:
        source: Folder or hub name of the model.

    Raises:
        CannotRunError: The hub cannot be asked for the file, and the cache does not know it. With
            other prompts than in training the model would answer badly.
        ValueError: An older version of the project wrote the model.
    """
    settings = _read(source)
    for key in (_CONSTRAINED, _AT_ONCE, *_EARLIER):
        settings.pop(key, None)
    return PromptSettings(**settings)


def was_constrained(source: str | Path) -> bool:
    """Return whether the answers of an exported model were constrained in training.

    The arguments and errors are those of ``trained_prompt``.
    """
    return bool(_read(source).get(_CONSTRAINED))


def answers_at_once(source: str | Path) -> bool | None:
    """Return whether an exported model answers briefs by a mechanism alone.

    None if it was not trained on briefs. The arguments and errors are those of ``trained_prompt``.
    """
    return _read(source).get(_AT_ONCE)


def write_manner(
    prompt: PromptSettings, constrained: bool, folder: Path, at_once: bool | None = None
) -> None:
    """Write the file into the folder of a model; for ``at_once`` see ``answers_at_once``."""
    manner = asdict(prompt) | {_CONSTRAINED: constrained}
    manner |= {} if at_once is None else {_AT_ONCE: at_once}
    (folder / PROMPT).write_text(json.dumps(manner, indent=2) + "\n")


def _read(source: str | Path) -> dict[str, Any]:
    path = _prompt_file(source)
    settings: dict[str, Any] = json.loads(path.read_text()) if path else {}
    if "rules" in settings:
        raise ValueError(f"{path}: rules was renamed to mechanism; rename the key in this file")
    return settings


def _prompt_file(source: str | Path) -> Path | None:
    """Return the file, or None if this project did not write the model."""
    if Path(source).is_dir():
        path = Path(source) / PROMPT
        return path if path.exists() else None
    try:
        return Path(hf_hub_download(str(source), PROMPT))
    except RemoteEntryNotFoundError:
        return None
    except LocalEntryNotFoundError as error:
        if try_to_load_from_cache(str(source), PROMPT) is not None:  # it knows that there is none
            return None
        raise CannotRunError(
            f"{source}: {PROMPT} is not in the cache, and the hub cannot be asked; run this once "
            "with a network"
        ) from error
