"""The folder that is published: written whole, checked, and uploaded to the hub."""

from __future__ import annotations

import hashlib
import re
import shutil
from pathlib import Path

from httpx import HTTPError
from huggingface_hub import HfApi, ModelCard, get_token
from huggingface_hub.errors import HfHubHTTPError

from daedalus.checks import CannotRunError
from daedalus.training.publishing.card import Example, base_model, model_card
from daedalus.training.publishing.evidence import Evidence
from daedalus.training.publishing.settings import HubSettings

CARD = "README.md"
_FIGURES = ("boxplot.png", "learning_curves.png")
_WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "config.json")
_LARGEST = 50 * 10**9  # bytes of a file that the hub accepts
_CONFLICT = 409
_TRY_FIRST = "hub.dry_run=true writes the folder without it"


def write_folder(evidence: Evidence, settings: HubSettings, example: Example, folder: Path) -> None:
    """Write the model, its card, and the files of the run that the card rests on.

    The folder exists and is empty.

    Raises:
        CannotRunError: The model, or its adapters alone, cannot be published.
    """
    from daedalus.training.model import load_language_model  # torch is slow to import

    run = evidence.run
    if settings.adapter_only:
        _write_adapters(evidence, folder)
    else:
        shutil.copytree(run.model, folder, dirs_exist_ok=True)
    files = (run.config, run.provenance, run.metrics, run.summary, run.differences, run.episodes)
    for path in (*files, run.history_table):
        _copy(path, folder / "run")
    for name in _FIGURES:
        _copy(run.figures / name, folder / "figures")
    parameters = load_language_model(folder).model.num_parameters()
    model_card(evidence, settings, example, int(parameters)).save(folder / CARD)


def check_folder(folder: Path) -> list[str]:
    """Return what is wrong with a folder that is to be published, without a network.

    It checks the card's metadata, the files and pictures that the card links, and all sizes.
    ``write_folder`` has loaded the model already.
    """
    card = ModelCard.load(folder / CARD)
    wrong = []
    if not card.data.eval_results or not card.data.license:
        wrong.append(f"{CARD}: its metadata lack scores or the licence")
    if re.search(r"\b(None|nan)\b", card.text):
        wrong.append(f"{CARD}: a value is missing")
    links = re.findall(r"\]\((?!\w+:)([^)\s]+)\)", card.text)
    wrong += [f"{CARD}: {link} does not exist" for link in links if not (folder / link).exists()]
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        if not 0 < path.stat().st_size <= _LARGEST:
            wrong.append(f"{path.relative_to(folder)}: {path.stat().st_size} bytes")
    return wrong


def hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of every file below a folder, by its path there."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _copy(path: Path, folder: Path) -> None:
    if path.exists() and path.stat().st_size > 1:  # a history without steps is an empty line
        folder.mkdir(exist_ok=True)
        shutil.copy(path, folder)


def _write_adapters(evidence: Evidence, folder: Path) -> None:
    from daedalus.training.checkpoints import write_sum

    run, base = evidence.run, base_model(evidence)
    if base is None:
        raise CannotRunError(
            "hub.adapter_only: the base model of this run is not on the hub, so nobody could use "
            "its adapters; set hub.adapter_only=false"
        )
    phases = [each for each in (run.sft_adapters, run.adapters) if each.exists()]
    if not phases:
        raise CannotRunError(
            f"hub.adapter_only: {run.path} holds no adapters; set hub.adapter_only=false"
        )
    shutil.copytree(run.model, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns(*_WEIGHTS))
    write_sum(base, phases, folder)


def require_token() -> None:
    """Check that there is a token for the hub.

    Raises:
        CannotRunError: There is none.
    """
    if get_token() is None:
        raise CannotRunError(
            "HF_TOKEN: not set; set it to a token that may write, or run hf auth login; "
            + _TRY_FIRST
        )


def upload(folder: Path, settings: HubSettings) -> str:
    """Create the repository, upload a folder in one commit, and return the commit's address.

    With ``update`` the commit replaces everything that the repository held.

    Raises:
        CannotRunError: The repository exists and ``update`` is off, or the hub refuses.
    """
    api = HfApi()
    _create(api, settings)
    try:
        commit = api.upload_folder(
            repo_id=settings.repo,
            folder_path=folder,
            commit_message="Publish the model of a training run",
            delete_patterns="*" if settings.update else None,
        )
    except (HTTPError, OSError) as error:
        raise CannotRunError(
            f"{settings.repo}: the upload failed ({_reason(error)}); the repository exists now, "
            f"so try again with hub.update=true"
        ) from error
    return str(commit.commit_url)


def _create(api: HfApi, settings: HubSettings) -> None:
    try:
        api.create_repo(settings.repo, private=settings.private, exist_ok=settings.update)
    except (HTTPError, OSError) as error:
        if isinstance(error, HfHubHTTPError) and error.response.status_code == _CONFLICT:
            raise CannotRunError(
                f"hub.repo: {settings.repo} exists already; choose another name, or replace what "
                "it holds with hub.update=true"
            ) from error
        raise CannotRunError(
            f"hub.repo: {settings.repo} was not created ({_reason(error)}); check the name, the "
            f"network and that the token may write; {_TRY_FIRST}"
        ) from error


def _reason(error: Exception) -> str:
    return str(error).strip().partition("\n")[0]
