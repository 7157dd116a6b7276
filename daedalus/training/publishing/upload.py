"""The upload to the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path

from httpx import HTTPError
from huggingface_hub import HfApi, get_token
from huggingface_hub.errors import HfHubHTTPError

from daedalus.checks import CannotRunError
from daedalus.training.publishing.settings import HubSettings

_CONFLICT = 409
_TRY_FIRST = "hub.dry_run=true writes the folder without it"


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
    """Create the repository and upload a folder in one commit.

    With ``update`` the commit replaces everything that the repository held.

    Args:
        folder: The published folder.
        settings: The repository.

    Returns:
        Address of the commit.

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
