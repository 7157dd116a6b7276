"""The file beside a model's weights that says how it was asked in training."""

from __future__ import annotations

import json
from pathlib import Path

from huggingface_hub import hf_hub_download, try_to_load_from_cache
from huggingface_hub.errors import LocalEntryNotFoundError, RemoteEntryNotFoundError

from daedalus.checks import CannotRunError
from daedalus.language.prompt import PromptSettings
from daedalus.runs.folder import PROMPT


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
    path = _prompt_file(source)
    if path is None:
        return PromptSettings()
    settings = json.loads(path.read_text())
    if "rules" in settings:
        raise ValueError(f"{path}: rules was renamed to mechanism; rename the key in this file")
    return PromptSettings(**settings)


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
