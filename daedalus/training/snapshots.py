"""Models on the hub: the file beside the weights that says how to ask them."""

from __future__ import annotations

from pathlib import Path

from huggingface_hub import hf_hub_download, try_to_load_from_cache
from huggingface_hub.errors import LocalEntryNotFoundError, RemoteEntryNotFoundError

from daedalus.checks import CannotRunError
from daedalus.runs.folder import PROMPT


def prompt_folder(source: str) -> Path:
    """Return the folder that may hold the prompt settings of a model.

    The file of a model on the hub is downloaded, or taken from the cache. A model that was not
    published by this project has no such file; then the returned folder does not exist.

    Args:
        source: Folder or hub name of a model.

    Raises:
        CannotRunError: The hub cannot be asked for the file, and the cache does not know it. With
            other prompts than in training the model would answer badly.
    """
    if Path(source).is_dir():
        return Path(source)
    try:
        return Path(hf_hub_download(source, PROMPT)).parent
    except RemoteEntryNotFoundError:
        return Path(source)
    except LocalEntryNotFoundError as error:
        if try_to_load_from_cache(source, PROMPT) is not None:  # it knows that there is none
            return Path(source)
        raise CannotRunError(
            f"{source}: {PROMPT} is not in the cache, and the hub cannot be asked; run this once "
            "with a network"
        ) from error
